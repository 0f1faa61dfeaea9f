#pragma once

#include "session/bisect.h"

namespace fusescope::cli {

/// `errors --bisect`: what makes the outputs wrong. The exit status: 1 where something does and it was not found.
Result<int> bisectAndPrint(const Artifact& artifact, const Samples& samples, const BisectOptions& options, bool json);

}  // namespace fusescope::cli
