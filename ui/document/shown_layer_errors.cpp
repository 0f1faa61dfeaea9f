#include "ui/document/shown_layer_errors.h"

#include <algorithm>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "session/layer_types.h"

namespace fusescope {

namespace {

bool reachesOutput(const FusedNode& fused, const Graph& graph, const std::set<std::string>& leading) {
  return std::ranges::any_of(
      fused.outputs, [&](const FusedOutput& output) { return leading.contains(graph.value(output.value).name); });
}

}  // namespace

ByHandle<ShownError> layerErrorsOf(const RunErrors& errors, const PlanSnapshot& snapshot,
                                   const std::set<std::string>* leading) {
  ByHandle<ShownError>::Map shown;
  shown.reserve(errors.nodes.size());
  for (const RunNodeErrors& node : errors.nodes) {
    const std::string handle = handleOf(node.identity);
    const FusedNode* fused = snapshot.fusedWith(handle);
    if (fused == nullptr || node.types != layerTypes(*snapshot.cover, *fused)) continue;
    ShownError error{ErrorKind::OfOtherPlan, node.errors};
    if (leading != nullptr) {
      error.kind = ErrorKind::Measured;
      error.reachesOutput = reachesOutput(*fused, snapshot.graph(), *leading);
    } else {
      error.errors.carried.reset();
    }
    shown.emplace(handle, std::move(error));
  }
  return ByHandle<ShownError>(std::move(shown));
}

}  // namespace fusescope
