#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// Most channels that a QuantizePlanesStep interleaves.
inline constexpr std::int64_t kMostPlanes = 4;

/// codes = saturate(round(x / scale) + zero), in one pass with channels last. `x` is f32, plain and dense, of a few
/// channels; `codes` int8 or uint8 of the same extents with channels last.
std::unique_ptr<Step> makeQuantizePlanesStep(Ref x, Ref codes, float scale, float zero, int threads);

}  // namespace fusescope::native
