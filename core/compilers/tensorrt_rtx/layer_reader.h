#pragma once

#include "compilers/probed/handed_network.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// What the log of a build tells of `network`: kernels with the nodes that their metadata name, in the order in which
/// they run; their regions; what became of nodes that no kernel names; conversions; memory and warnings as decisions.
/// A node in a body counts as the node that holds the body. What does not fit the network is left out.
ReadBack readLayers(const HandedNetwork& network, const BuildLog& log);

/// The name of a kernel of readLayers() by the name of a layer: that of the user's nodes in place of numbers.
std::string kernelName(const HandedNetwork& network, std::string_view layer);

}  // namespace fusescope
