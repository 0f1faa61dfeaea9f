#pragma once

#include <string_view>
#include <vector>

#include "compilers/probed/compiler_input.h"

namespace fusescope {

/// Returns the nodes in the file's main graph, by name, that one name in metadata can mean; for a node in a body this
/// is the holder. Empty: the network has none.
std::vector<std::string_view> fileNodesOf(const CompilerInput& network, std::string_view nameInMetadata);

}  // namespace fusescope
