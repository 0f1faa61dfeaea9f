#pragma once

#include <optional>
#include <string>

#include "interchange/exports.h"

namespace fusescope {

/// Returns the error for a plan whose numbers are too far from float32: how far, on which sample, and at which nodes
/// the difference begins. `apart` was measured on `backend`. `plan` is the plan that the user asked for, including
/// codes. Errors: cancelled.
Result<std::optional<Diagnostic>> tooFarFromFloat32(const Plan& plan, const OutputDifference& apart,
                                                    const std::string& backend, const ExportOptions& options);

/// Returns the error if the plan is within the tolerance, but the network that stores each value between two nodes is
/// not. `apart` is its difference from float32, `first` the first value that differs from the plan, and `by` this
/// difference as a share of its rms.
Diagnostic storedTooFarFromFloat32(const OutputDifference& apart, const std::string& first, double by,
                                   const ExportOptions& options);

}  // namespace fusescope
