#pragma once

#include "backends/backend.h"

namespace fusescope {

/// Fusescope's own CPU engine: oneDNN for convolutions, matrix products and pooling, own vectorised kernels for the
/// rest, chosen at run time by what the CPU has. Stateless; one instance for the process.
const Backend& nativeBackend();

}  // namespace fusescope
