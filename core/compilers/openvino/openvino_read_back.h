#pragma once

#include <map>
#include <string>

#include "compilers/openvino/execution_graph.h"
#include "compilers/openvino/imported_network.h"
#include "compilers/probed/compiler_input.h"

namespace fusescope {

/// Returns what OpenVINO made of a network, from its execution graph and from the imported network. A layer that is a
/// view is not a kernel; a layer that converts the type or format of a value contains no node. Kernels are named by
/// type, number and primitive: "FullyConnected_7_brgemm_avx512_f32".
ReadBack openvinoReadBack(const CompilerInput& network, const ExecutionGraph& graph, const ImportedNetwork& imported);

/// Returns the milliseconds of the kernels of a graph that was run, by their names in openvinoReadBack(). They are
/// means over all runs, including the first one, in whole microseconds. Layers that prepare constants are omitted,
/// because they do not run each time.
std::map<std::string, double> openvinoTimes(const ExecutionGraph& graph);

}  // namespace fusescope
