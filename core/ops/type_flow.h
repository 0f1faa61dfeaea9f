#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/stop.h"
#include "ir/extent_conditions.h"
#include "ir/graph.h"

namespace fusescope {

/// How the types that a graph already carries are used.
enum class DeclaredTypes {
  Complete,  ///< they complete what is computed; where they contradict it, the computed type holds
  Fill,      ///< they stand in only where nothing is computed (an operator we have no rule for)
};

/// Which values are computed with the reference kernels on the way.
enum class ComputeValues {
  Small,  ///< what shapes may depend on: at most 4,096 elements
  All,    ///< everything that depends on constants alone, within limits of size
};

struct TypeFlowOptions {
  DeclaredTypes declared = DeclaredTypes::Complete;
  ComputeValues compute = ComputeValues::Small;
  std::span<const Tensor* const> knownInputs{};  ///< values of the graph's inputs by position; null: unknown
  bool assumeEqual = false;  ///< open extents that are broadcast are taken to be equal, under conditions
  std::vector<ExtentCondition> conditions{};  ///< hold from the start
};

/// Types of all values, and the values that are known. Index = ValueId.
struct TypeFlow {
  std::vector<TensorType> types;
  std::vector<std::shared_ptr<const Tensor>> known;  ///< constants with data and what was computed from them
  std::vector<ValueId> contradicted;                 ///< their declared type cannot be; `types` has the computed one
  std::vector<ExtentCondition> conditions;           ///< under which the types hold
  std::vector<TensorType> inputs;  ///< as they were given, with a symbol for each extent: conditions speak of these
};

/// Walks the graph in order, and again where it learned on the way which open extents are equal. Every extent is known
/// or an expression: what nothing is known of becomes a symbol of its own, named after the value and the axis.
/// `inputs`: one type per graph input. An error is located at the node whose inputs do not fit.
Result<TypeFlow> flowTypes(const Graph& graph, const std::vector<TensorType>& inputs, const TypeFlowOptions& options,
                           const StopToken& stop = {});

/// Whether a node may be computed ahead of time if its inputs are known: it has a kernel, is deterministic, has no
/// body, and is not a weight's DequantizeLinear.
bool isComputable(const Node& node);

/// Types inside the body that `node` has under `attribute`, where the node's operands have these types and values
/// (both by operand). What the body declares stands in only where nothing is computed.
Result<TypeFlow> flowBody(const Node& node, const std::string& attribute, std::span<const TensorType* const> types,
                          std::span<const Tensor* const> constants);

/// `computed` completed by `declared`, or nothing if they contradict each other. A named extent that was computed is
/// more general than a number that was declared, and wins.
std::optional<TensorType> mergedType(const TensorType& declared, const TensorType& computed);

}  // namespace fusescope
