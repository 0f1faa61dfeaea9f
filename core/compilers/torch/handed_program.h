#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/handed_network.h"

namespace fusescope::torch_compiler {

// An exported program in a network's place, as every compiler is handed it that takes such programs.

/// torch: its package, the compiler, and the target of what it runs.
inline constexpr const char* kTorch = "torch";

/// The option that names the program. `who`: what loads it, as messages call it.
CompilerOption programOption(std::string_view who);

/// Returns the value of the option `name` in `plan`, or its default from `options`.
std::string optionOf(const Plan& plan, const std::vector<CompilerOption>& options, std::string_view name);

/// Names the exported program of `network` as what is handed over. Gives {inputs[], outputs[]}, by which the probe
/// holds the program against the network. `who`: the compiler, as messages call it. Errors: there is no exported
/// program, it may not be handed to torch, or the plan is none of a whole network with its own numbers.
Result<Json> handProgram(HandedNetwork& network, const BuildOptions& options, std::string_view who);

}  // namespace fusescope::torch_compiler
