#pragma once

#include <vector>

#include "session/inputs/samples.h"

namespace fusescope {

/// Cuts `sample` along `axis` into as many samples as its inputs contain: each gets as many entries as the plan takes.
/// An input that contains only one sample, or does not have the axis, is shared by all. Errors name the input: extents
/// that are not a multiple, inputs with different numbers of samples, elements that cannot be cut.
Result<std::vector<Sample>> cutSample(const Plan& plan, const Sample& sample, std::int64_t axis);

}  // namespace fusescope
