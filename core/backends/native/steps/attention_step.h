#pragma once

#include <memory>

#include "backends/native/steps/attention_call.h"

namespace fusescope::native {

/// Makes a step that processes blocks of rows, so that the scores of a block stay in the cache between the two
/// products. An empty `at` means that the step works only for its own extents.
std::unique_ptr<Step> makeAttentionStep(AttentionCall call, int threads, AttentionAt at = {});

}  // namespace fusescope::native
