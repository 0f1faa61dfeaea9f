#include "ui/document/layer_errors.h"

#include "planning/fused_node_facts.h"
#include "session/session.h"

namespace fusescope {

ByHandle<ShownError> layerErrorsOf(const RunErrors& errors, const PlanSnapshot& snapshot, bool ofThisPlan) {
  ByHandle<ShownError>::Map shown;
  shown.reserve(errors.nodes.size());
  for (const RunNodeErrors& node : errors.nodes) {
    const std::string handle = handleOf(node.identity);
    const FusedNode* fused = snapshot.fusedWith(handle);
    if (fused == nullptr || node.types != layerTypesText(*snapshot.plan, *fused)) continue;
    ShownError error{ofThisPlan ? ErrorKind::Measured : ErrorKind::OfOtherPlan, node.errors};
    if (!ofThisPlan) error.errors.carried.reset();
    shown.emplace(handle, std::move(error));
  }
  return ByHandle<ShownError>(std::move(shown));
}

}  // namespace fusescope
