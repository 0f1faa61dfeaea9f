#pragma once

#include <memory>
#include <optional>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Calculates y = (x - mean) / sqrt(variance + epsilon) · scale + bias over groups of adjacent channels of each image,
/// where channels are the innermost axis: channels last, or blocked channels without padding. makeNormStep() does the
/// same for the plain format.
struct GroupNormCall {
  Ref from, to;                    ///< in the same format, f32 or narrow floats
  std::optional<Ref> scale, bias;  ///< f32 and plain: one number for each channel, or for each of equal groups of
                                   ///< adjacent channels
  std::int64_t groups = 1;
  float epsilon = 0;
};

/// Returns whether makeGroupNormStep() supports the layout of `ref`.
bool hasInnerChannels(const Ref& ref);

std::unique_ptr<Step> makeGroupNormStep(GroupNormCall call, int threads);

}  // namespace fusescope::native
