#pragma once

#include <vector>

#include "session/samples.h"

namespace fusescope {

/// `sample` cut along `axis` into as many samples as its inputs hold there: each gets as many entries as the plan
/// takes. An input that holds just one sample, or has no such axis, is shared by all. Errors name the input: extents
/// that are no multiple, inputs that hold different numbers of samples, elements that cannot be cut.
Result<std::vector<Sample>> cutSample(const Plan& plan, const Sample& sample, std::int64_t axis);

}  // namespace fusescope
