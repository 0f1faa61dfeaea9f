#pragma once

#include "ir/tensor.h"

namespace fusescope {

/// Returns whether numpy has no type for these elements, so that archives contain their codes: floats of one byte or
/// less, and integers of 4 and 2 bits.
bool isStoredAsCodes(DataType type);

/// Returns the codes of a tensor of such a type, one byte per element, with unused high bits 0.
Tensor codesOf(const Tensor& tensor);

/// Converts `codes`, a tensor of bytes (U8 or I8), to a tensor of `type` if archives contain codes for that type;
/// otherwise returns `codes` unchanged.
Tensor fromCodes(const Tensor& codes, DataType type);

}  // namespace fusescope
