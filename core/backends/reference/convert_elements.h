#pragma once

#include <cstddef>
#include <cstdint>

#include "base/data_type.h"
#include "ir/tensor.h"

namespace fusescope {

/// Converts `count` elements that lie one after another, at any address, by the rules of Tensor::converted. `in` and
/// `out` must not overlap unless the types are equal. Common pairs (float32 with f16, bf16, f64; int64 with int32)
/// allocate nothing.
void convertElements(DataType from, const std::byte* in, DataType to, std::byte* out, std::int64_t count);

/// The tensor with its elements in `type`; containers, text and what has no type yet stay as they are.
Tensor convertedTensor(const Tensor& tensor, DataType type);

/// Rounds float32 elements in place to what `type` can hold; F32 and wider leave them as they are.
void roundElements(DataType type, float* values, std::int64_t count);

}  // namespace fusescope
