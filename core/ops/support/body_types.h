#pragma once

#include <string>

#include "ops/support/infer_support.h"
#include "ops/type_flow.h"

namespace fusescope::ops {

/// The body under `attribute`; an error if there is none or it has fewer inputs than it captures values.
Result<Subgraph> bodyOf(const Node& node, const std::string& attribute);
/// As bodyOf(), of a body that must have these numbers of inputs (without captures) and outputs.
Result<Subgraph> checkedBody(const Node& node, const std::string& attribute, std::size_t inputs, std::size_t outputs);

/// What a body gets for its own inputs: their types, and values where they are known (null where not).
struct BodyInputs {
  Types types;
  std::vector<const Tensor*> known{};  ///< may be shorter than `types`
};

/// Types inside a body that gets `inputs` and the node's captures. What the body declares stands in only where nothing
/// is computed.
Result<TypeFlow> inferBody(const InferContext& context, const std::string& attribute, const BodyInputs& inputs);

/// The types of the body's outputs as the enclosing graph may see them: symbols that only the body knows are unknown.
Types outputTypes(const InferContext& context, const Graph& body, const TypeFlow& flow);

/// What is true of both: equal extents; nothing at all if element types or containers differ.
TensorType joined(const TensorType& a, const TensorType& b);

/// What a body is handed in every iteration: `before`, then what it carries on, then `after`.
struct LoopInputs {
  Types before;
  Types carried;  ///< as they enter the first iteration
  Types after;
  std::vector<const Tensor*> known{};  ///< of `before`
};

/// Types that hold in every iteration.
struct LoopTypes {
  BodyInputs inputs;
  Types carried;
  Types outputs;  ///< of the body
  TypeFlow flow;
};

/// The body's outputs from `firstCarried` on are carried into the next iteration. Carried types are widened until the
/// body gives what it takes.
Result<LoopTypes> inferLoop(const InferContext& context, const std::string& attribute, LoopInputs inputs,
                            std::size_t firstCarried);

}  // namespace fusescope::ops
