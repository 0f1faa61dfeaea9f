#pragma once

#include <memory>
#include <optional>

#include "backends/native/program.h"

namespace fusescope::native {

/// y = (x - mean) / sqrt(variance + epsilon) · scale + bias over groups of neighbouring channels of each image, where
/// channels lie innermost: channels last, or blocked channels without padding. What is plain is makeNormStep()'s.
struct GroupNormCall {
  Ref from, to;                    ///< of one format, f32 or narrow floats
  std::optional<Ref> scale, bias;  ///< f32 and plain: a number for each channel, or for each of equal runs of channels
  std::int64_t groups = 1;
  float epsilon = 0;
};

/// Whether makeGroupNormStep() takes tensors that lie like `ref`.
bool hasInnerChannels(const Ref& ref);

std::unique_ptr<Step> makeGroupNormStep(GroupNormCall call, int threads);

}  // namespace fusescope::native
