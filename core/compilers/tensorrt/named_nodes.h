#pragma once

#include <string_view>
#include <vector>

#include "compilers/probed/handed_network.h"

namespace fusescope {

/// The file nodes of the main graph, by name, that one name in metadata can mean: of a node in a body the holder.
/// Empty: the network has none.
std::vector<std::string_view> fileNodesOf(const HandedNetwork& network, std::string_view nameInMetadata);

}  // namespace fusescope
