#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/handed_network.h"

namespace fusescope {

/// A node or a value of a plan that a text speaks of: one of both is valid.
struct Spoken {
  NodeId node;
  ValueId value;
};

/// What `text` speaks of by the numbers of `network`, each once, in the order of the text: "n12", and "n12_0" of a
/// layer that the compiler made of the node.
std::vector<Spoken> spokenOf(const HandedNetwork& network, std::string_view text);

/// `text` with the names of the user's network in place of the numbers that it was handed over with; what the compiler
/// added to a number stays behind the name.
std::string inNamesOfNetwork(const HandedNetwork& network, std::string_view text);

}  // namespace fusescope
