#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compilers/torch/program_facts.h"
#include "planning/read_back_plan.h"

namespace fusescope::torch_compiler {

/// That a node of one graph is one of another.
struct Tie {
  std::size_t node = 0;  ///< its index in the other graph
  Certainty certainty = Certainty::Guessed;
};

/// Finds each of `nodes` among `all`, a graph that it was made from, or nothing. Several of `nodes` may be of one.
/// Named: name, operator and lines of source are the same. Derived: the n-th of an operator that comes from the same
/// lines in the same module, where both graphs have as many, or the only node that comes from there. Guessed: the n-th
/// node that comes from there, of whatever operator, where both have as many.
std::vector<std::optional<Tie>> tiesOf(std::span<const NodeOrigin> nodes, std::span<const NodeOrigin> all);

/// The less certain of two.
Certainty weaker(Certainty a, Certainty b);

}  // namespace fusescope::torch_compiler
