#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cost.h"
#include "planning/steps.h"

namespace fusescope {

/// What a node is to the planner whatever is asked of it.
struct NodeFacts {
  enum class Author {
    Silent,
    Narrow,
    CastUp
  };                                       ///< Narrow: the network declares f16 or bf16; CastUp: f32 behind a Cast
  DataType natural = DataType::Undefined;  ///< what it calculates in if nobody asks for another type
  bool floats = false;                     ///< calculates floats: precision applies
  bool moves = false;                      ///< moves elements, or is a Cast between floats: takes types as they come
  Author author = Author::Silent;
  NodeId cast;  ///< CastUp: the Cast
  /// A product or convolution whose kernel multiplies integers: of two operands that it dequantises, or written on
  /// codes (multipliesCodes()).
  bool quantised = false;
};

/// What would let the target run a node that it refuses.
struct Remedy {
  std::optional<TruncateMode> truncation;
  std::string equivalent;  ///< operators in its place; empty: the target's table names none
};

/// What a plan is before types: what runs where, and what could run as one kernel. Depends on the model, the target and
/// the directives that decide where nodes run; the same for every choice of precision. Immutable, shared between plans.
struct Structure {
  std::string key;  ///< of all it was made from but the model
  Truncation truncation;
  Partitioning partition;
  std::map<NodeId, Remedy> remedies;  ///< of refused nodes, where there is one
  std::vector<char> accelerated;      ///< by NodeId
  std::vector<NodeFacts> facts;       ///< by NodeId
  std::vector<char> given;  ///< by ValueId: an input of the network, or only moved from inputs: nobody calculated it
  Fusion fusion;
  std::vector<std::uint32_t> regionOf;              ///< by NodeId: index into fusion.regions
  std::shared_ptr<const UsualExtents> usual;        ///< that work and bytes are told for
  std::shared_ptr<const UsualExtents> least, most;  ///< null where the inputs' extents are fixed
  std::vector<Decision> decisions;                  ///< evidence counts from the first decision of the model
};

/// Steps 1 to 5 of the pipeline. `previous` is taken if it was made of the same.
Result<std::shared_ptr<const Structure>> makeStructure(const Model& model, const Target& target,
                                                       const DirectiveMap& directives, const PlanOptions& options,
                                                       std::shared_ptr<const Structure> previous,
                                                       const StopToken& stop);

/// By NodeId. Which products of dequantised operands are quantised is found once regions are known.
std::vector<NodeFacts> nodeFacts(const Graph& graph, const Partitioning& partition, const Truncation& truncation);
/// By ValueId: Structure::given.
std::vector<char> givenValues(const Graph& graph, const std::vector<NodeFacts>& facts);
/// Whether `node` is written as a product or convolution of 8-bit integers (MatMulInteger, QLinearConv, …): it has no
/// other type, whatever precision is asked for.
bool multipliesCodes(const Graph& graph, const Node& node);
/// The product or convolution of `region` whose two operands it dequantises from 8-bit integers; else invalid.
NodeId quantisedRoot(const Graph& graph, const Region& region);
/// What a node that calculates in `type` asks of a kernel of one type. A product of integers that the kernel
/// dequantises goes with any float (Undefined), and so does what quantises or dequantises: it belongs to its
/// neighbours.
DataType typeToKernel(const Node& node, DataType type);
/// The float types that a plan may exchange for one another. f64 and types of a byte are what the model says.
bool isExchangeable(DataType type);
/// Whether `node` asks for extents only, so that the type of what it reads is all one to it.
bool readsExtentsOnly(const Node& node);
/// Whether operand `i` of `node` is data that the node's type applies to; scales, ranges and extents are not.
bool isDataOperand(const Node& node, std::size_t i);

}  // namespace fusescope
