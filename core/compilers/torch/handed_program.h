#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/compiler_input.h"

namespace fusescope::torch_compiler {

// These pass an exported program in place of a network to every compiler that takes such programs.

/// The name of the package torch, of the compiler, and of its target.
inline constexpr const char* kTorch = "torch";

/// Returns the option that names the program. `who` is what loads it, for messages.
CompilerOption programOption(std::string_view who);

/// Returns the value of the option `name` in `plan`, or its default from `options`.
std::string optionOf(const Plan& plan, const std::vector<CompilerOption>& options, std::string_view name);

/// Sets the exported program of `network` as the file that the compiler receives. Returns {inputs[], outputs[]}, with
/// which the probe compares the program with the network. `who` is the name of the compiler in messages. Errors: there
/// is no exported program, it may not be passed to torch, or the plan is not that of a whole network with its original
/// weights.
Result<Json> handProgram(CompilerInput& network, const BuildOptions& options, std::string_view who);

}  // namespace fusescope::torch_compiler
