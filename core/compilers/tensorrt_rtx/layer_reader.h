#pragma once

#include "compilers/probed/compiler_input.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// Returns what the log of a build says about `network`: kernels with the nodes in their metadata, in the order in
/// which they run; their regions; the fates of nodes that no kernel names; conversions; memory and warnings as
/// decisions. A node in a body counts as its holder. Contents that contradict the network are ignored.
ReadBack readLayers(const CompilerInput& network, const BuildLog& log);

/// Returns the name of a kernel of readLayers() for a layer: the layer's name with the user's nodes in place of
/// numbers.
std::string kernelName(const CompilerInput& network, std::string_view layer);

}  // namespace fusescope
