#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace fusescope::onnxruntime {

/// Milliseconds of kernels in one run by their names: medians over the runs of a profile that ONNX Runtime wrote, but
/// for the first one. Kernels of bodies run within the time of the kernel that holds them, and are not told apart.
/// Errors: it is no such profile, or has fewer than two runs.
Result<std::map<std::string, double>> kernelTimesOf(const Json& profile);

}  // namespace fusescope::onnxruntime
