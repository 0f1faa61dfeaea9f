#pragma once

#include "compilers/openvino/imported_network.h"
#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// What OpenVINO says of the nodes of a network, from the answer {devices{}, unconverted[{op, attributes{}}], words}
/// and the network as far as it was imported.
CompilerSupport openvinoSupport(const HandedNetwork& network, const ImportedNetwork& imported, const Json& answer);

/// The name that OpenVINO calls a node by in an error: "<Node(DepthToSpace): NAME>"; empty: it calls none. It is the
/// node's, or that of what it makes.
std::string nodeInError(std::string_view message);

}  // namespace fusescope
