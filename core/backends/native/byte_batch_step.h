#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// sums [batches, m, n], int32 = (a - aZero) · (b - bZero) of matrices of int8 or uint8 that lie one behind the other,
/// neither of them a constant.
struct ByteBatchCall {
  Ref a, b, sums;
  std::int32_t aZero = 0, bZero = 0;
  std::int64_t batches = 1, m = 0, k = 0, n = 0;
};
std::unique_ptr<Step> makeByteBatchStep(ByteBatchCall call, int threads);

}  // namespace fusescope::native
