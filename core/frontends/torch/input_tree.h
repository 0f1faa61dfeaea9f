#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "frontends/torch/pickle.h"

namespace fusescope::torch {

// How the author's arguments contain the inputs of the graph: they are nested lists, tuples and dictionaries, whose
// leaves in order are the inputs. `tree` is PyTorch's description of this, [1, {type, context, children_spec}], for a
// tuple of (arguments, keyword arguments); it is null if the file has none.

/// Returns the author's name for each leaf: the name of the argument if the argument itself is a leaf, otherwise an
/// empty text. Returns nothing if `tree` is not such a description.
std::vector<std::string> leafNames(const Json& tree, const std::vector<std::string>& argumentNames);

/// Returns the leaves of example inputs, in the order of the graph's inputs. `examples` is the pickle of (arguments,
/// keyword arguments); keyword arguments are ordered as in `tree`. It is an error if the pickle is not such a pair.
Result<std::vector<std::uint32_t>> exampleLeaves(const Json& tree, const Pickle& examples);

}  // namespace fusescope::torch
