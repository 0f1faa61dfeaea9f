#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "frontends/torch/pickle.h"

namespace fusescope::torch {

// How the author's arguments hold the inputs of the graph: lists, tuples and dictionaries within each other, whose
// leaves in order are the inputs. `tree`: PyTorch's description of that, [1, {type, context, children_spec}] of a tuple
// of (arguments, keyword arguments); null where the file has none.

/// The author's name of each leaf: that of its argument where the argument is a leaf itself, else empty. Nothing where
/// `tree` is none.
std::vector<std::string> leafNames(const Json& tree, const std::vector<std::string>& argumentNames);

/// The leaves of example inputs, in the order of the graph's: (arguments, keyword arguments) as they were pickled;
/// keyword arguments stand as `tree` names them. Errors: the pickle is no such pair.
Result<std::vector<std::uint32_t>> exampleLeaves(const Json& tree, const Pickle& examples);

}  // namespace fusescope::torch
