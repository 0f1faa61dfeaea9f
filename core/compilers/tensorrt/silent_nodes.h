#pragma once

#include <vector>

#include "frontends/tensorrt/layer_list.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {

class Graph;

/// Completes `readBack` for the nodes of `graph` that no kernel names. A kernel that names no node and only moves
/// elements gets the moving nodes between the kernels that write its inputs and those that read its outputs (Derived,
/// or Guessed if layers without nodes that may calculate are between them). A jump that compares two tensors gets the
/// comparing node. Other nodes become folded, removed or a view if the graph allows nothing else; otherwise nothing is
/// recorded for them. `layers` are those from which `readBack.kernels` were made, one each.
void bindSilentNodes(const Graph& graph, const std::vector<ListedLayer>& layers, ReadBack& readBack);

}  // namespace fusescope
