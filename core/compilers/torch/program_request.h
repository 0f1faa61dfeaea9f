#pragma once

#include <vector>

#include "compilers/probed/handed_network.h"

namespace fusescope::torch_compiler {

std::vector<CompilerOption> compilerOptions();
/// Whether `plan` asks for TorchInductor, and not for the program as it is.
bool isInductor(const Plan& plan);
/// The type below f32 that torch is asked for: that of most nodes of the plan; F32: none.
DataType halfType(const Plan& plan);

/// What torch is asked with; names the exported program as what is handed over, and says which pins it is asked for.
/// Errors: there is no exported program, or the plan is none of a whole network with its own numbers.
Result<Json> requestOptions(HandedNetwork& network, const BuildOptions& options);

}  // namespace fusescope::torch_compiler
