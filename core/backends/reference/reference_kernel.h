#pragma once

#include <memory>

#include "backends/backend.h"

namespace fusescope {

/// Prepares the kernel that runs `request.fused` node by node; see referenceBackend(). Constants are converted and
/// rounded once, here. Errors: an operator without a reference kernel, a constant without data.
Result<std::unique_ptr<Kernel>> prepareReferenceKernel(const KernelRequest& request);

}  // namespace fusescope
