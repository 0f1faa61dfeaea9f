#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/program.h"
#include "backends/native/window.h"

namespace fusescope::native {

/// sums [batch, channels, height, width], int32 = convolution of x less its zero point with constant filters less
/// theirs. Refs are plain and dense with two spatial axes, `x` of int8 or uint8, `xZero` one number of the same type.
struct ByteConvCall {
  Ref x;
  std::optional<Ref> xZero;
  const Tensor* filters = nullptr;  ///< int8 or uint8 [channels, inputs / groups, kernel…]; only read while making
  std::vector<std::int32_t> filterZeros;  ///< one, or one for each channel; empty: zero
  Window window;
  std::int64_t groups = 1;
  Ref sums;
};
std::unique_ptr<Step> makeByteConvStep(ByteConvCall call, int threads);

}  // namespace fusescope::native
