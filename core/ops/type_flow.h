#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/stop.h"
#include "ir/extent_conditions.h"
#include "ir/tensor.h"

namespace fusescope {

class Graph;
struct Node;

/// How the types that the graph declares are used.
enum class DeclaredTypes {
  Complete,  ///< they complete computed types; if they contradict, the computed type is used
  Fill,      ///< they are used only where no type can be computed (an operator without a schema)
};

/// Which values are computed with the reference kernels during inference.
enum class ComputeValues {
  Small,  ///< values that shapes may depend on, with at most 4,096 elements
  All,    ///< everything that depends only on constants, up to a limit of size
};

struct TypeFlowOptions {
  DeclaredTypes declared = DeclaredTypes::Complete;
  ComputeValues compute = ComputeValues::Small;
  std::span<const Tensor* const> knownInputs{};  ///< values of the graph's inputs by position; null if unknown
  bool assumeEqual = false;  ///< open extents that are broadcast are assumed to be equal, under conditions
  std::vector<ExtentCondition> conditions{};  ///< assumed from the start
};

/// The types of all values, and the values that are known, by ValueId.
struct TypeFlow {
  std::vector<TensorType> types;
  std::vector<std::shared_ptr<const Tensor>> known;  ///< constants with data, and what was computed from them
  std::vector<ValueId> contradicted;        ///< values whose declared type is impossible; `types` has the computed type
  std::vector<ExtentCondition> conditions;  ///< the types are right if these are true
  /// The given types, with a symbol for each open extent; conditions contain these symbols.
  std::vector<TensorType> inputs;
};

/// Infers the types of all values. It visits the nodes in order, and again if it learned meanwhile that open extents
/// are equal. Every extent in the result is known or an expression; if nothing is known of an extent, it becomes a
/// symbol that is named after the value and axis. `inputs` has one type per graph input. An error is located at the
/// node whose inputs do not fit.
Result<TypeFlow> flowTypes(const Graph& graph, const std::vector<TensorType>& inputs, const TypeFlowOptions& options,
                           const StopToken& stop = {});

/// Returns whether a node can be computed before run time if its inputs are known: it has a kernel, is deterministic,
/// has no body, and is not the DequantizeLinear of a weight.
bool isComputable(const Node& node);

/// Returns `computed`, completed by `declared`, or nothing if they contradict each other. If a symbol was computed and
/// a number declared, the symbol is kept, because it is more general.
std::optional<TensorType> mergedType(const TensorType& declared, const TensorType& computed);

}  // namespace fusescope
