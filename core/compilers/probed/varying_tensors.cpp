#include <algorithm>

#include "compilers/probed/slices.h"
#include "onnxlib/node_dependence.h"

namespace fusescope {

std::vector<bool> varyingTensors(const TensorGraph& graph) {
  std::vector<bool> varies(graph.tensors().size());
  for (std::uint32_t i = 0; i < graph.tensors().size(); ++i) varies[i] = graph.tensor(i).isInput;
  for (const std::uint32_t index : graph.order()) {
    const TensorGraph::Node& node = graph.node(index);
    const bool readsExtents = onnxlib::readsExtentsOnly(*node.file);
    const bool isVarying = onnxlib::isRandom(*node.file) || std::ranges::any_of(node.reads, [&](std::uint32_t read) {
                             return !readsExtents && read != TensorGraph::kNone && varies[read];
                           });
    if (!isVarying) continue;
    for (const std::uint32_t made : node.makes)
      if (made != TensorGraph::kNone) varies[made] = true;
  }
  return varies;
}

}  // namespace fusescope
