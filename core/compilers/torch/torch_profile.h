#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope::torch_compiler {

/// Returns the milliseconds of each kernel in one run, as the median over all runs of a profile except the first: the
/// time on the card if there is one, otherwise the time of the operators that it called. The names are those of
/// eagerKernels() or inductorKernels(). A kernel whose calls cannot be distinguished from others of the same name has
/// no time. `text` is profile.json, which resources/probe/torch_profile.py describes. Errors: it is not such a profile.
Result<std::map<std::string, double>> kernelTimes(std::string_view text);

}  // namespace fusescope::torch_compiler
