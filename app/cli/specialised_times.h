#pragma once

#include "app/cli/command.h"
#include "session/specialise.h"

namespace fusescope::cli {

/// `time --specialise`: calls the network with all samples until it is settled which engine serves each, and prints who
/// serves, what calls took, the decisions and the times of the engines that serve.
Status timeSpecialised(const Artifact& artifact, const BuildOptions& options, const Samples& samples,
                       const SpecialiseRequest& request, bool asJson);

}  // namespace fusescope::cli
