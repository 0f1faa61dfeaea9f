#pragma once

#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Calculates codes = saturate(round((sums + bias) · factor) + zero) from int32 sums of shape [outer, channels, inner].
/// It calculates in f64, so that the exact product is rounded.
struct RequantizeCall {
  Ref sums, codes;  ///< plain and dense; codes are int8 or uint8
  std::int64_t channels = 1, inner = 1;
  BufferIndex factors = kNoBuffer;  ///< f64, one per channel
  BufferIndex bias = kNoBuffer;     ///< int32, one per channel; kNoBuffer: no bias
  std::int32_t zero = 0;
};
std::unique_ptr<Step> makeRequantizeStep(RequantizeCall call, int threads);

}  // namespace fusescope::native
