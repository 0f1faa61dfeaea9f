#pragma once

#include <optional>
#include <string>

#include "interchange/exports.h"

namespace fusescope {

/// What is said of a plan whose numbers are too far from float32: how far, on which sample, and at which nodes that
/// begins. `apart`: what was found on `backend`. `plan`: as its user asked for it, codes and all. Errors: cancelled.
Result<std::optional<Diagnostic>> tooFarFromFloat32(const Plan& plan, const OutputsApart& apart,
                                                    const std::string& backend, const ExportOptions& options);

/// The same where the plan holds and the network that stores each value between two nodes does not: `apart` is how far
/// that is from float32, `first` the first value that differs from the plan, `by` so much of its rms.
Diagnostic storedTooFarFromFloat32(const OutputsApart& apart, const std::string& first, double by,
                                   const ExportOptions& options);

}  // namespace fusescope
