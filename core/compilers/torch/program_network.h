#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compilers/probed/compiler_input.h"
#include "compilers/torch/program_facts.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::torch_compiler {

/// Nodes of a plan with the certainty of an assignment to them.
using KnownNodes = std::map<NodeId, Certainty>;

/// The correspondence between a network and the exported program that is passed in its place.
struct ProgramNetwork {
  std::vector<KnownNodes> nodes;   ///< for each node of the program, the nodes of the plan that were made from it
  std::vector<NodeId> untied;      ///< nodes of the plan that correspond to no node of the program, in the plan's order
  std::int64_t tied = 0, all = 0;  ///< numbers of nodes of the plan
  std::int64_t equalWeights = 0;   ///< initializers of the file that the program has too
  std::int64_t weights = 0;        ///< those with more than one element
};

/// Finds the correspondence between the nodes of `network` and those of the program, from what PyTorch's exporter, or
/// our probe if it exported the network, wrote into the file. Errors: a weight with the same name in both is different,
/// so that it is the program of another network; none of the network's weights is in the program.
Result<ProgramNetwork> programNetwork(const CompilerInput& network, const ProgramFacts& program);

}  // namespace fusescope::torch_compiler
