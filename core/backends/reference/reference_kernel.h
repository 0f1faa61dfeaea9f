#pragma once

#include <memory>

#include "backends/backend.h"

namespace fusescope {

/// Compiles code that runs `request.fused` node by node; see referenceBackend(). Errors: an operator without a
/// reference kernel, a constant without data.
Result<std::unique_ptr<const Code>> compileReference(const KernelRequest& request);

}  // namespace fusescope
