#pragma once

#include <map>

#include "compilers/probed/handed_network.h"
#include "frontends/tensorrt/engine_log.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// Why TensorRT may have left out types that were asked of nodes, as the log of the build says: none of its kernels
/// obeys, the build allowed no such type, the type was never set, or it was only preferred. Of other nodes the log says
/// nothing.
std::map<NodeId, PinHindrance> pinHindrances(const HandedNetwork& network, const EngineLog& log);

/// The nodes of the file that a message names as "Conv_70[Conv] + Relu_71[Relu]".
std::vector<std::string> nodesInMessage(std::string_view layers);

}  // namespace fusescope
