#pragma once

#include "backends/backend.h"

namespace fusescope {

/// Runs regions of one elementwise operator without attributes (Relu, Neg) by code that can be kept; others as the
/// reference.
const Backend& keepingBackend();

/// Lets the backend be of another version, as its fingerprint says.
void setKeepingVersion(std::string version);

}  // namespace fusescope
