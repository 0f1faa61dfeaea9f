#pragma once

#include <map>

#include "compilers/probed/compiler_input.h"
#include "frontends/tensorrt/engine_log.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// Returns why TensorRT may have ignored types that were requested for nodes, from the log of the build: none of its
/// kernels supports the type, the build did not allow it, the type was never set, or it was only preferred. Nodes about
/// which the log says nothing are omitted.
std::map<NodeId, PinHindrance> pinHindrances(const CompilerInput& network, const EngineLog& log);

/// Returns the nodes of the file that a message names, as in "Conv_70[Conv] + Relu_71[Relu]".
std::vector<std::string> nodesInMessage(std::string_view layers);

}  // namespace fusescope
