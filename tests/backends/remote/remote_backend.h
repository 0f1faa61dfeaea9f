#pragma once

#include "backends/backend.h"

namespace fusescope {

/// The reference's kernels on remoteDevice().
const Backend& remoteBackend();

}  // namespace fusescope
