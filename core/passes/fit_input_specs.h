#pragma once

#include "base/stop.h"
#include "ir/model.h"

namespace fusescope {

/// Gives open extents of the inputs values at which the network can work: those of inputs with source "assumed", and,
/// within their range, those with source "exporter". It first tries the values in the specs, then, in a bounded number
/// of attempts, values that the demands of nodes suggest. For each such input, a decision says why. If no extent is
/// found, `opt` is -1, and a decision asks the user for it. The model must be prepared; a second call does nothing.
/// Deterministic. The only error is that `stop` was requested.
Status fitInputSpecs(Model& model, const StopToken& stop = {});

}  // namespace fusescope
