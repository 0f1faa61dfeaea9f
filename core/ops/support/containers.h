#pragma once

#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {

/// Returns whether nothing is known of a type.
inline bool isUnknown(const TensorType& type) {
  return type.dtype == DataType::Undefined && type.container == Container::None;
}

/// Returns the type of a sequence of tensors of this type; unknown if `element` is not a tensor.
inline TensorType sequenceOf(const TensorType& element) {
  if (element.container != Container::None) return {};
  return {.dtype = element.dtype, .shape = element.shape, .container = Container::Sequence};
}

/// Returns the type of the elements of a sequence, or of the element of an optional.
inline TensorType elementOf(const TensorType& type) {
  const Container inner = type.container == Container::OptionalSequence ? Container::Sequence : Container::None;
  return {.dtype = type.dtype, .shape = type.shape, .container = inner};
}

/// Makes the schema of an operator on sequences or optionals, whose extents are known only after it ran.
OpSchema containerSchema(std::string op, int minInputs, int maxInputs, InferFunction infer, KernelFunction kernel);
/// Checks that input `i` is a sequence or has an unknown type.
Status requireSequence(const InferContext& context, std::size_t i);
/// Checks that input `i` is a tensor or has an unknown type.
Status requireTensor(const InferContext& context, std::size_t i);
/// Converts a position, which is counted from the end if it is negative, to an index. It must be in [-limit, limit).
Result<std::size_t> placeAt(const Tensor& position, std::size_t limit);

}  // namespace fusescope::ops
