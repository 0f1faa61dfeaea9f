#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compilers/torch/program_facts.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope::torch_compiler {

/// Says that a node of one graph corresponds to a node of another graph.
struct Tie {
  std::size_t node = 0;  ///< its index in the other graph
  Certainty certainty = Certainty::Guessed;
};

/// Finds for each of `nodes` the corresponding node in `all`, the graph that it was made from, or nothing. Several of
/// `nodes` may correspond to one. Named: name, operator and source lines are equal. Derived: the n-th node with the
/// same operator, source lines and module, if both graphs have equally many, or the only node from these lines.
/// Guessed: the n-th node from these lines with any operator, if both have equally many.
std::vector<std::optional<Tie>> tiesOf(std::span<const NodeOrigin> nodes, std::span<const NodeOrigin> all);

/// Returns the lower certainty of the two.
Certainty weaker(Certainty a, Certainty b);

}  // namespace fusescope::torch_compiler
