#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost.h"
#include "planning/steps.h"

namespace fusescope {

class Graph;
struct Node;

/// The properties of a node that do not depend on directives for types.
struct NodeFacts {
  enum class Author {
    Silent,
    Narrow,  ///< the network declares f16 or bf16
    CastUp   ///< the network declares f32, after a Cast
  };
  DataType natural = DataType::Undefined;  ///< the type in which it calculates if no other is asked for
  bool floats = false;                     ///< it calculates floats, so that precision applies
  bool moves = false;  ///< it moves elements or is a Cast between floats, so that it keeps the type of its input
  Author author = Author::Silent;
  NodeId cast;  ///< for CastUp: the Cast
  /// It is a product or convolution whose kernel multiplies integers: both operands are dequantised in the kernel, or
  /// the operator is defined on codes (multipliesCodes()).
  bool quantised = false;
};

/// What would make the target accept a node that it refuses.
struct Remedy {
  std::optional<TruncateMode> truncation;
  std::string equivalent;  ///< operators that could replace it; empty if the target's table names none
};

/// The part of a plan that does not depend on types: which nodes run where, and which could share a kernel. It depends
/// on the model, the target, and the directives that decide where nodes run, and is the same for every choice of
/// precision. Immutable, and shared between plans.
struct Structure {
  std::string key;  ///< everything that it was made from, except the model
  Truncation truncation;
  Partitioning partition;
  std::map<NodeId, Remedy> remedies;  ///< for refused nodes, if there is one
  std::vector<char> accelerated;      ///< by NodeId
  std::vector<NodeFacts> facts;       ///< by NodeId
  /// By ValueId: it is an input of the network, or moved from inputs only, so that no node calculated it.
  std::vector<char> uncalculated;
  Fusion fusion;
  std::vector<std::uint32_t> regionOf;               ///< by NodeId: index into fusion.regions
  std::shared_ptr<const ChosenExtents> usual;        ///< the extents at which work and bytes are computed
  std::shared_ptr<const ChosenExtents> least, most;  ///< null if the inputs' extents are fixed
  std::vector<Decision> decisions;                   ///< indices of evidence count from the model's first decision
  /// In graph order: the nodes that the target's table refuses, and the compiler does not. What the table predicts may
  /// still show when they are compiled.
  std::vector<NodeId> acceptedAgainstTable;
};

/// Makes the structure, which is step 2 of layOut() (pipeline.cpp). Returns `previous` if it was made from equal
/// arguments.
Result<std::shared_ptr<const Structure>> makeStructure(const Model& model, const Target& target,
                                                       const DirectiveMap& directives, const PlanOptions& options,
                                                       std::shared_ptr<const Structure> previous,
                                                       const StopToken& stop);

/// Returns the facts by NodeId. Which products of dequantised operands are quantised is determined later, when regions
/// are known.
std::vector<NodeFacts> nodeFacts(const Graph& graph, const Partitioning& partition, const Truncation& truncation);
/// Returns Structure::uncalculated.
std::vector<char> uncalculatedValues(const Graph& graph, const std::vector<NodeFacts>& facts);
/// Returns whether `node` is an operator for products or convolutions of 8-bit integers (MatMulInteger, QLinearConv,
/// …). Its type does not depend on the precision.
bool multipliesCodes(const Graph& graph, const Node& node);
/// Returns the product or convolution of `region` whose two operands the region dequantises from 8-bit integers, or an
/// invalid id.
NodeId quantisedRoot(const Graph& graph, const Region& region);
/// Returns the type that a kernel of one type must have for a node that calculates in `type`. It is Undefined (any
/// type) for a product of integers that the kernel dequantises, and for nodes that quantise or dequantise, which go
/// with their neighbours.
DataType typeToKernel(const Node& node, DataType type);
/// Returns whether a plan may replace this float type by another one. f64 and types of one byte are kept as the model
/// has them.
bool isExchangeable(DataType type);
/// Returns whether `node` uses only the extents of its input, so that the input's type does not matter.
bool readsExtentsOnly(const Node& node);
/// Returns whether operand `i` of `node` is data that has the node's type; scales, ranges and extents are not.
bool isDataOperand(const Node& node, std::size_t i);

/// Returns whether a segment of a plan with these options ends after a node that a split names. A body does not end,
/// because a compiler receives it as a whole, with its holder.
bool splitsEndSegments(const Model& model, const PlanOptions& options);

}  // namespace fusescope
