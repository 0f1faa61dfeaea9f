#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/torch/program_network.h"

namespace fusescope {
class Graph;
}  // namespace fusescope

namespace fusescope::torch_compiler {

/// Adds `nodes` to `into` with a certainty of at most `atMost`. A node that is there already keeps the higher
/// certainty.
void addAll(const KnownNodes& nodes, Certainty atMost, KnownNodes& into);

/// Returns the values that nodes of a kernel make and that other nodes read or that are outputs of the network.
std::vector<ValueId> outputsOf(const Graph& graph, const KnownNodes& nodes);

/// Returns the kernel of an operator of torch with these nodes. `types` are the types of the tensors that it makes. If
/// it makes a single tensor that is a single value of the network, that value gets the type.
ReadBackKernel operatorKernel(std::string name, std::string_view target, const std::vector<std::string>& types,
                              const KnownNodes& nodes, const Graph& graph);

/// Adds decisions about the nodes without a corresponding node in the program, and about how many have one. `who` is
/// the name of the compiler in messages.
void addUntiedDecisions(const CompilerInput& network, const ProgramNetwork& tied, std::string_view who,
                        ReadBack& readBack);

}  // namespace fusescope::torch_compiler
