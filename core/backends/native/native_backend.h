#pragma once

#include "backends/backend.h"

namespace fusescope {

/// Returns Fusescope's own CPU backend: oneDNN for convolutions, matrix products and pooling, and our own vectorised
/// kernels for the rest, selected at run time for the CPU. It has no state; there is one instance per process.
const Backend& nativeBackend();

}  // namespace fusescope
