#pragma once

#include <string>

#include "ops/support/infer_support.h"
#include "ops/type_flow.h"

namespace fusescope::ops {

/// Returns the body in `attribute`. It is an error if there is none, or if it has fewer inputs than captured values.
Result<Subgraph> bodyOf(const Node& node, const std::string& attribute);
/// Does the same, and checks that the body has these numbers of inputs (without captured values) and outputs.
Result<Subgraph> checkedBody(const Node& node, const std::string& attribute, std::size_t inputs, std::size_t outputs);

/// The types of a body's own inputs, and their values where they are known (otherwise null).
struct BodyInputs {
  Types types;
  std::vector<const Tensor*> known{};  ///< may be shorter than `types`
};

/// Infers the types in a body, given the types of its own inputs; those of captured values are in `context`. Types that
/// the body declares are used only where none can be computed.
Result<TypeFlow> inferBody(const InferContext& context, const std::string& attribute, const BodyInputs& inputs);

/// Returns the types of the body's outputs for the enclosing graph. Symbols that exist only in the body become unknown
/// extents.
Types outputTypes(const InferContext& context, const Graph& body, const TypeFlow& flow);

/// Returns the type that covers both: extents that are equal are kept. If element types or containers differ, nothing
/// is known.
TensorType joined(const TensorType& a, const TensorType& b);

/// The inputs of a body that runs repeatedly: `before`, then the carried values, then `after`.
struct LoopInputs {
  Types before;
  Types carried;  ///< the types with which they enter the first iteration
  Types after;
  std::vector<const Tensor*> known{};  ///< values of `before`, where known
};

/// Types that are right in every iteration.
struct LoopTypes {
  BodyInputs inputs;
  Types carried;
  Types outputs;  ///< the types of the body's outputs
  TypeFlow flow;
};

/// Infers the types of a loop. The body's outputs from `firstCarried` on are carried into the next iteration; their
/// types are widened until outputs and inputs of the body have the same types.
Result<LoopTypes> inferLoop(const InferContext& context, const std::string& attribute, LoopInputs inputs,
                            std::size_t firstCarried);

}  // namespace fusescope::ops
