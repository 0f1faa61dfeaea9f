#pragma once

#include "session/inputs/samples.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// The largest number of samples that are listed; the number of others is given.
constexpr std::size_t kMostListedSamples = 200;

/// Returns each input of each sample: its name, type, extents and the range of its values. It reads every element, and
/// must not be called on the GUI thread.
TableContent samplesContent(const Samples& samples);
/// Returns "8 samples of 1 input", "1 random sample of 3 inputs".
QString samplesText(const Samples& samples);

}  // namespace fusescope
