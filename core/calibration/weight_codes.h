#pragma once

#include "calibration/ranges.h"
#include "ir/tensor.h"

namespace fusescope {

/// The range of each channel of float32 `weights` along `axis`, or of all (-1): symmetric. An axis beyond the rank is a
/// mistake of the caller's.
WeightRange weightRangeOf(const Tensor& weights, std::int64_t axis, const RangeChoice& choice);

/// Weights as signed integers that stand for code · scale.
struct WeightCodes {
  Tensor codes;            ///< of int8 or int4, as the weights
  Tensor scales;           ///< f32: a scalar, one for each channel, or one for each block
  std::int64_t axis = -1;  ///< of channels or blocks; -1: one scale
  std::int64_t block = 0;  ///< elements along the axis that share a scale; 0: it is that of channels
};

/// int8 codes from -127 to 127. `range` must be of as many channels as the weights have.
WeightCodes codesOf(const Tensor& weights, const WeightRange& range);

/// Codes from -127 to 127 of int8, from -7 to 7 of int4. `block` elements along `axis` share a scale (the last block
/// may be shorter); 0: all along `axis` do, so that each of the other axis's has its own. For weights of two axes.
WeightCodes blockCodesOf(const Tensor& weights, DataType type, std::int64_t axis, std::int64_t block,
                         const RangeChoice& choice);

/// What the codes stand for.
Tensor numbersOf(const WeightCodes& codes);

}  // namespace fusescope
