#pragma once

#include "backends/backend.h"

namespace fusescope::native {

/// Returns every tactic of ours for a fused node, best guess first, without the reference tactic. It is empty if there
/// is none.
std::vector<Tactic> nativeTactics(const KernelRequest& request);

/// Compiles one of them. Errors: a tactic that nativeTactics() does not return for this request.
Result<std::unique_ptr<const Code>> compileNative(const KernelRequest& request, const Tactic& tactic);

}  // namespace fusescope::native
