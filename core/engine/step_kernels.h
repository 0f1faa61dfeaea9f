#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernel_store.h"
#include "engine/program.h"

namespace fusescope {

/// The kernels that run a program's steps by another number of threads than it was lowered for: by step, null where the
/// step's own kernel stays.
using StepKernels = std::vector<std::shared_ptr<const Kernel>>;

/// The kernels for `threads` of `program`, which was lowered of `plan` for `extents`. They run the same
/// tactics in the same formats within the same arenas; packed weights are shared where both read the same form. A step
/// keeps its own kernel where it runs no tactic (bodies, extents that depend on data) and where the
/// other kernel would need more scratch memory. Errors: the backend's.
Result<StepKernels> stepKernelsFor(int threads, const Program& program, const Plan& plan,
                                   const std::map<std::string, Dims>& extents, KernelStore& kernels);

}  // namespace fusescope
