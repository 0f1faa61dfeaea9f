#pragma once

#include <span>

#include "ir/graph.h"
#include "target/target.h"
#include "target/value_scope.h"

namespace fusescope {

/// The question whether a target can run a node, with everything that is known of its operands. Types are those after
/// truncation.
struct NodeRequest {
  const Target& target;
  const ValueScope& scope;
  const Node& node;
  std::span<const TensorType* const> inputs;   ///< by position; null for an absent optional input
  std::span<const TensorType* const> outputs;  ///< by position
  const BodyTypes& bodyTypes;

  const TensorType* input(std::size_t i) const { return i < inputs.size() ? inputs[i] : nullptr; }
  const TensorType* output(std::size_t i) const { return i < outputs.size() ? outputs[i] : nullptr; }
  const Tensor* constant(std::size_t i) const { return scope.constant(node.input(i)); }
  /// Returns whether the operand is a constant, or depends only on constants.
  bool isConstant(std::size_t i) const { return scope.dependsOnConstants(node.input(i)); }
  /// Returns the name of a value of the node; empty if the id is invalid.
  std::string nameOf(ValueId value) const {
    return scope.graph().has(value) ? scope.graph().value(value).name : std::string();
  }
};

}  // namespace fusescope
