#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// codes = saturate(round((sums + bias) · factor) + zero) of int32 sums, seen as [outer, channels, inner]. Calculated
/// in f64: rounding is that of the exact product.
struct RequantizeCall {
  Ref sums, codes;  ///< plain and dense; codes are int8 or uint8
  std::int64_t channels = 1, inner = 1;
  BufferIndex factors = kNoBuffer;  ///< f64, by channel
  BufferIndex bias = kNoBuffer;     ///< int32, by channel; or none
  std::int32_t zero = 0;
};
std::unique_ptr<Step> makeRequantizeStep(RequantizeCall call, int threads);

}  // namespace fusescope::native
