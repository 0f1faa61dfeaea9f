#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/torch/program_network.h"

namespace fusescope::torch_compiler {

/// Adds `nodes`, known as `atMost` at best. Of a node that is there already the more certain of both stands.
void addAll(const KnownNodes& nodes, Certainty atMost, KnownNodes& into);

/// What nodes of a kernel make and others read, or the network gives.
std::vector<ValueId> leaving(const Graph& graph, const KnownNodes& nodes);

/// The kernel that an operator of torch is, of these nodes. `types`: of the tensors that it makes; of one that makes a
/// single tensor, which a single value of the network is, that value has the type.
ReadBackKernel operatorKernel(std::string name, std::string_view target, const std::vector<std::string>& types,
                              const KnownNodes& nodes, const Graph& graph);

/// Adds decisions on the nodes that are tied to none of the program, and on how many are. `who`: the compiler, as
/// messages call it.
void tellUntied(const HandedNetwork& network, const ProgramNetwork& tied, std::string_view who, ReadBack& told);

}  // namespace fusescope::torch_compiler
