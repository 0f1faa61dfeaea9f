#pragma once

#include "session/samples.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// So many samples are listed; of more their number is said.
constexpr std::size_t kMostListedSamples = 200;

/// Each input of each sample: its name, type, extents and the range of its values. Reads every element: not for the
/// GUI thread.
TableContent samplesContent(const Samples& samples);
/// "8 samples of 1 input", "1 random sample of 3 inputs".
QString samplesText(const Samples& samples);

}  // namespace fusescope
