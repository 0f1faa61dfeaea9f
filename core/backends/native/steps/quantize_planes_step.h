#pragma once

#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// The largest number of channels that makeQuantizePlanesStep() supports.
inline constexpr std::int64_t kMostPlanes = 4;

/// Makes a step that calculates codes = saturate(round(x / scale) + zero) and converts to channels last in one pass.
/// `x` is f32, plain and dense, with at most kMostPlanes channels; `codes` is int8 or uint8 with the same extents and
/// channels last.
std::unique_ptr<Step> makeQuantizePlanesStep(Ref x, Ref codes, float scale, float zero, int threads);

}  // namespace fusescope::native
