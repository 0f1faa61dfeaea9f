#pragma once

#include "backends/backend.h"

namespace fusescope {

/// Runs everything as the reference, in three ways, the quickest first as it says: "clamping:saturating", whose sums of
/// integers stay within 16 bits, "clamping:flushing", and "clamping:exact".
const Backend& clampingBackend();

/// Whether the exact ways are offered too, the reference among them.
void offerExactWays(bool offered);

}  // namespace fusescope
