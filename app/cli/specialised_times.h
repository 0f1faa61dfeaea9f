#pragma once

#include "app/cli/command.h"
#include "session/specialise.h"

namespace fusescope::cli {

/// Carries out `time --specialise`: calls the network with all samples until it is decided which engine serves each of
/// them. Prints which engines serve, how long calls took, the decisions, and the times of these engines.
Status timeSpecialised(const Artifact& artifact, const BuildOptions& options, const Samples& samples,
                       const SpecialiseRequest& request, bool asJson);

}  // namespace fusescope::cli
