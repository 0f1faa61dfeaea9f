#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Calculates sums [batches, m, n], int32 = (a - aZero) · (b - bZero) for matrices of int8 or uint8. `batches[i]` gives
/// the indices of the matrices of a and b whose product is matrix i of the sums, so that batches may broadcast. Refs
/// are plain and dense; zero points have the type of their codes.
struct ByteBatchCall {
  struct Pair {
    std::int64_t a = 0, b = 0;
  };
  Ref a, b, sums;
  std::optional<Ref> aZero;  ///< one number
  std::optional<Ref> bZero;  ///< one number, or one for each column
  std::vector<Pair> batches;
  std::int64_t m = 0, k = 0, n = 0;
};
std::unique_ptr<Step> makeByteBatchStep(ByteBatchCall call, int threads);

}  // namespace fusescope::native
