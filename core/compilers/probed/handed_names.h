#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/compiler_input.h"

namespace fusescope {

/// A node or a value of a plan that a text mentions; exactly one of both is valid.
struct Mention {
  NodeId node;
  ValueId value;
};

/// Returns what `text` mentions by the numbers of `network`, each once, in the order of the text: "n12", and "n12_0"
/// for a layer that the compiler made from the node.
std::vector<Mention> mentionsIn(const CompilerInput& network, std::string_view text);

/// Replaces the numbers in `text` by the names of the user's network. A suffix that the compiler added to a number is
/// kept after the name.
std::string inNamesOfNetwork(const CompilerInput& network, std::string_view text);

}  // namespace fusescope
