#pragma once

#include "ir/tensor.h"

namespace fusescope {

/// Whether numpy has no type for these elements, so that archives hold their codes: the floats of a byte and less, and
/// the integers of 4 and 2 bits.
bool standsAsCodes(DataType type);

/// The codes of a tensor of such a type, one byte an element, the unused high bits 0.
Tensor codesOf(const Tensor& tensor);

/// `codes`, a tensor of bytes (U8 or I8), as a tensor of `type` if that stands as codes; else `codes` itself.
Tensor fromCodes(const Tensor& codes, DataType type);

}  // namespace fusescope
