#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compilers/probed/handed_network.h"
#include "compilers/torch/program_facts.h"
#include "planning/read_back_plan.h"

namespace fusescope::torch_compiler {

/// Nodes of a plan, and how it is known that something is of them.
using KnownNodes = std::map<NodeId, Certainty>;

/// How a network and the exported program that stands for it go together.
struct ProgramNetwork {
  std::vector<KnownNodes> nodes;   ///< by the index of a node of the program: those of the plan that are made of it
  std::vector<NodeId> untied;      ///< nodes of the plan that no node of the program is known to be, in its order
  std::int64_t tied = 0, all = 0;  ///< nodes of the plan
  std::int64_t equalWeights = 0;   ///< initializers of the file that the program has, too
  std::int64_t weights = 0;        ///< those of more than one element
};

/// Ties the nodes of `network` to those of the program by what PyTorch's exporter noted in the file, and our probe
/// where it exported the network. Errors: a weight that both have under one name is another one there, so that it is
/// the program of another network; none of the network's weights are the program's.
Result<ProgramNetwork> programNetwork(const HandedNetwork& network, const ProgramFacts& program);

}  // namespace fusescope::torch_compiler
