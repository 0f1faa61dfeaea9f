#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"
#include "ir/tensor.h"

namespace fusescope {

/// Converts `count` contiguous elements, at any address, by the rules of Tensor::converted. `in` and `out` must not
/// overlap unless the types are equal. Common pairs (float32 with f16, bf16, f64; int64 with int32) allocate nothing.
void convertElements(DataType from, const std::byte* in, DataType to, std::byte* out, std::int64_t count);

/// Returns the tensor with its elements in `type`; containers, text and tensors without a type are returned unchanged.
Tensor convertedTensor(const Tensor& tensor, DataType type);

/// Rounds float32 elements in place to the precision of `type`; F32 and wider types leave them unchanged.
void roundElements(DataType type, float* values, std::int64_t count);

}  // namespace fusescope
