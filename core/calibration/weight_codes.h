#pragma once

#include "calibration/ranges.h"
#include "ir/tensor.h"

namespace fusescope {

/// Returns the symmetric range of each channel of float32 `weights` along `axis`, or of all weights if `axis` is -1.
/// `axis` must be less than the rank.
WeightRange weightRangeOf(const Tensor& weights, std::int64_t axis, const RangeChoice& choice);

/// Weights as signed integers, which represent code · scale.
struct WeightCodes {
  Tensor codes;            ///< int8 or int4, with the extents of the weights
  Tensor scales;           ///< f32: a scalar, one per channel, or one per block
  std::int64_t axis = -1;  ///< axis of channels or blocks; -1: one scale
  std::int64_t block = 0;  ///< number of elements along the axis that share a scale; 0: one scale per channel
};

/// Returns int8 codes from -127 to 127. `range` must have as many channels as the weights.
WeightCodes codesOf(const Tensor& weights, const WeightRange& range);

/// Returns codes from -127 to 127 (int8) or from -7 to 7 (int4) for weights of two axes. `block` elements along `axis`
/// share a scale; the last block may be shorter. If `block` is 0, all elements along `axis` share one, so that each
/// index of the other axis has its own scale.
WeightCodes blockCodesOf(const Tensor& weights, DataType type, std::int64_t axis, std::int64_t block,
                         const RangeChoice& choice);

/// Returns the numbers that the codes represent.
Tensor numbersOf(const WeightCodes& codes);

}  // namespace fusescope
