#pragma once

#include "session/bisect.h"

namespace fusescope::cli {

/// Carries out `errors --bisect`: finds what makes the outputs wrong and prints it. Returns the exit status, which is 1
/// if an output is wrong and the cause was not found.
Result<int> bisectAndPrint(const Artifact& artifact, const Samples& samples, const BisectOptions& options, bool json);

}  // namespace fusescope::cli
