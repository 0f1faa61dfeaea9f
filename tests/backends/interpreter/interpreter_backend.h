#pragma once

#include "backends/backend.h"

namespace fusescope {

/// Compiles whole segments, on the host.
const Backend& interpreterBackend();

}  // namespace fusescope
