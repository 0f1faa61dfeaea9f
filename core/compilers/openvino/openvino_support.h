#pragma once

#include "compilers/openvino/imported_network.h"
#include "compilers/probed/probed_kind.h"

namespace fusescope {

/// Returns which nodes of a network OpenVINO supports, from the answer {devices{}, unconverted[{op, attributes{}}],
/// words} and the network as far as it was imported.
CompilerSupport openvinoSupport(const CompilerInput& network, const ImportedNetwork& imported, const Json& answer);

/// Returns the name by which an error of OpenVINO refers to a node: "<Node(DepthToSpace): NAME>"; empty if it names
/// none. It is the name of the node or of one of its results.
std::string nodeInError(std::string_view message);

}  // namespace fusescope
