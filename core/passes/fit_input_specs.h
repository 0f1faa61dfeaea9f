#pragma once

#include "base/stop.h"
#include "ir/model.h"

namespace fusescope {

/// Gives the open extents of the inputs (source "assumed", and within its range "exporter") values at which the network
/// can work: first those that stand in the specs, else, in a bounded number of tries, those that its demands suggest. A
/// decision for each such input says why. Extents that are not found are -1 in `opt`: a decision asks for them. For a
/// prepared model; does nothing the second time. Deterministic. An error: stopped.
Status fitInputSpecs(Model& model, const StopToken& stop = {});

}  // namespace fusescope
