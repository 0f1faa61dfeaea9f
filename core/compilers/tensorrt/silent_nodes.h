#pragma once

#include <vector>

#include "frontends/tensorrt/layer_list.h"
#include "planning/read_back_plan.h"

namespace fusescope {

/// Completes `told` for the nodes of `graph` that no kernel names. Kernels that name none and only move elements get
/// the nodes that do so between the kernels that write what they read and those that read what they write (Derived;
/// Guessed where layers that may calculate stand there without nodes), and a jump that compares two tensors gets the
/// node that does so. What is left is folded, removed or a view where the graph leaves nothing else; else nothing is
/// said of it. `layers`: what `told.kernels` were made of, one each.
void tellSilentNodes(const Graph& graph, const std::vector<ListedLayer>& layers, ReadBack& told);

}  // namespace fusescope
