#pragma once

#include "backends/backend.h"

namespace fusescope::native {

/// Returns every tactic of ours for a fused node, best guess first, without the reference tactic. It is empty if there
/// is none.
std::vector<Tactic> nativeTactics(const KernelRequest& request);

/// Compiles a tactic that nativeTactics() returned for `request`. Any other tactic is an error.
Result<std::unique_ptr<const Code>> compileNative(const KernelRequest& request, const Tactic& tactic);

}  // namespace fusescope::native
