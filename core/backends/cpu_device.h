#pragma once

#include "backends/device.h"

namespace fusescope {

/// Returns the first device: the CPU with the memory of this process. Its streams run work before the call returns.
const Device& cpuDevice();
/// Returns a stream of the CPU for callers that run code outside a program. It has no state, so that any number of
/// threads may use it.
Stream& hostStream();

}  // namespace fusescope
