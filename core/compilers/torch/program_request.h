#pragma once

#include <vector>

#include "compilers/probed/compiler_input.h"

namespace fusescope::torch_compiler {

std::vector<CompilerOption> compilerOptions();
/// Returns whether `plan` asks for TorchInductor instead of eager mode.
bool isInductor(const Plan& plan);
/// Returns the type narrower than f32 that torch is asked for, which is that of most nodes of the plan; F32: none.
DataType halfType(const Plan& plan);

/// Returns torch's options; sets the exported program as the file that it receives, and records which pins it is asked
/// for. Errors: there is no exported program, or the plan is not that of a whole network with its original weights.
Result<Json> requestOptions(CompilerInput& network, const BuildOptions& options);

}  // namespace fusescope::torch_compiler
