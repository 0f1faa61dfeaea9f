#pragma once

#include <map>
#include <string>

#include "compilers/openvino/execution_graph.h"
#include "compilers/openvino/imported_network.h"
#include "compilers/probed/handed_network.h"

namespace fusescope {

/// What OpenVINO made of a network, from its execution graph and from the network as it was imported. A layer that only
/// sees what it reads otherwise is no kernel; one that writes a value in another type or format holds no node. Kernels
/// are called by type, number and primitive: "FullyConnected_7_brgemm_avx512_f32".
ReadBack openvinoReadBack(const HandedNetwork& network, const ExecutionGraph& graph, const ImportedNetwork& imported);

/// Milliseconds of the kernels of a graph that was run, by their names in openvinoReadBack(). Means of all runs, the
/// first among them, in whole microseconds. Those that prepare constants are left out: what they took is not of each
/// run.
std::map<std::string, double> openvinoTimes(const ExecutionGraph& graph);

}  // namespace fusescope
