#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fusescope::torch_compiler {

/// Milliseconds of each kernel in one run, the median over the runs of a profile but the first: what ran on the card
/// for it where there is one, else the operators that it called. By the names of eagerKernels() or inductorKernels(). A
/// kernel whose calls cannot be told apart from others of its name has none. `text`: profile.json, as
/// resources/probe/torch_profile.py says. Errors: it is no such profile.
Result<std::map<std::string, double>> kernelTimes(std::string_view text);

}  // namespace fusescope::torch_compiler
