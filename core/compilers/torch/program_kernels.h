#pragma once

#include <span>

#include "compilers/torch/program_network.h"

namespace fusescope::torch_compiler {

/// Returns the kernels of a program that runs in eager mode: one for each node that makes a tensor with memory of its
/// own, with the name of the node. Other nodes are views.
ReadBack eagerKernels(const CompilerInput& network, const ProgramFacts& program, const ProgramNetwork& tied);

/// Returns the kernels that TorchInductor made, with the nodes that it names as their origins. A node that is an origin
/// of several kernels is in each of them; which one calculates it is not reported, so that its certainty is at most
/// Derived.
ReadBack inductorKernels(const CompilerInput& network, const ProgramFacts& program, const ProgramNetwork& tied,
                         std::span<const InductorGraph> graphs);

/// Returns the same from the files of an earlier TorchInductor compilation of the network of `plan`, which did not run
/// on this machine. Nodes are found by their names in the exported program (Origin::programNode).
ReadBack kernelsInFile(const Plan& plan, const InductorBuild& build, const std::string& file);

}  // namespace fusescope::torch_compiler
