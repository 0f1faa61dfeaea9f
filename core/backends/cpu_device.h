#pragma once

#include "backends/device.h"

namespace fusescope {

/// The first device: the process's own memory. Its streams run what they are given before the call returns.
const Device& cpuDevice();
/// A stream of it for callers that run code beside any program. It keeps nothing: any number of threads may use it.
Stream& hostStream();

}  // namespace fusescope
