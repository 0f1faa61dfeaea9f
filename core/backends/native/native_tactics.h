#pragma once

#include "backends/backend.h"

namespace fusescope::native {

/// Every way of ours to run a fused node, best guess first, without the reference way. Empty if there is none.
std::vector<Tactic> nativeTactics(const KernelRequest& request);

/// The kernel of one of them. Errors: one that nativeTactics() does not give here.
Result<std::unique_ptr<const Code>> compileNative(const KernelRequest& request, const Tactic& tactic);

}  // namespace fusescope::native
