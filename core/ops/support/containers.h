#pragma once

#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {

/// Whether nothing is known of a type.
inline bool isUnknown(const TensorType& type) {
  return type.dtype == DataType::Undefined && type.container == Container::None;
}

/// A sequence of elements of this type; of anything but a tensor: unknown.
inline TensorType sequenceOf(const TensorType& element) {
  if (element.container != Container::None) return {};
  return {.dtype = element.dtype, .shape = element.shape, .container = Container::Sequence};
}

/// What a sequence holds, or an optional if it is not empty.
inline TensorType elementOf(const TensorType& type) {
  const Container inner = type.container == Container::OptionalSequence ? Container::Sequence : Container::None;
  return {.dtype = type.dtype, .shape = type.shape, .container = inner};
}

/// The schema of an operator on sequences or optionals, whose extents are known only after running.
OpSchema containerSchema(std::string op, int minInputs, int maxInputs, InferFunction infer, KernelFunction kernel);
/// Input `i` must be a sequence, or of a type not yet known.
Status requireSequence(const InferContext& context, std::size_t i);
/// Input `i` must be a tensor, or of a type not yet known.
Status requireTensor(const InferContext& context, std::size_t i);
/// The place that a position counted from either end means; it must be in [-limit, limit).
Result<std::size_t> placeAt(const Tensor& position, std::size_t limit);

}  // namespace fusescope::ops
