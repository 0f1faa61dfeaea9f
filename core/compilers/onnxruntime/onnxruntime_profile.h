#pragma once

#include <map>
#include <string>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope::onnxruntime {

/// Returns the milliseconds of each kernel in one run by name: medians over all runs except the first of a profile that
/// ONNX Runtime wrote. Kernels of bodies run within the time of the kernel of their holder and are not listed
/// separately. Errors: it is not such a profile, or has fewer than two runs.
Result<std::map<std::string, double>> kernelTimesOf(const Json& profile);

}  // namespace fusescope::onnxruntime
