#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernels/kernel_store.h"
#include "engine/program/program.h"

namespace fusescope {

/// Kernels that run the steps of a program with another number of threads than it was lowered for, by step. Null means
/// that the step keeps its own kernel.
using StepKernels = std::vector<std::shared_ptr<const Kernel>>;

/// Makes the kernels for running `program`, which was lowered from `plan` for `extents`, with `threads` threads. They
/// use the same tactics, formats and arenas; packed weights are shared if both kernels read the same form. A step keeps
/// its own kernel if it has no tactic (bodies, extents that depend on data), or if the other kernel would need more
/// scratch memory. Errors: those of the backend.
Result<StepKernels> stepKernelsFor(int threads, const Program& program, const Plan& plan,
                                   const std::map<std::string, Dims>& extents, KernelStore& kernels);

}  // namespace fusescope
