#pragma once

#include <span>

#include "compilers/torch/program_network.h"

namespace fusescope::torch_compiler {

/// What ran where a program ran as it is: a kernel for each of its nodes that made a tensor of its own, called as the
/// node. Nodes that only see memory are views.
ReadBack eagerKernels(const HandedNetwork& network, const ProgramFacts& program, const ProgramNetwork& tied);

/// The kernels that TorchInductor made, with the nodes that it names as their origins. A node among the origins of
/// several shares in each, and which of them calculates it is not told: it is Derived in them at best.
ReadBack inductorKernels(const HandedNetwork& network, const ProgramFacts& program, const ProgramNetwork& tied,
                         std::span<const InductorGraph> graphs);

/// The same of what files tell that TorchInductor had made of the network of `plan` before, which nobody ran here.
/// Nodes are found by the names that they have in the exported program (Origin::programNode).
ReadBack kernelsInFile(const Plan& plan, const InductorBuild& build, const std::string& file);

}  // namespace fusescope::torch_compiler
