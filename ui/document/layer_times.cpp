#include "ui/document/layer_times.h"

#include "planning/fused_node_facts.h"

namespace fusescope {
namespace {

void addTimes(const std::vector<RunLayer>& layers, const PlanSnapshot& snapshot, const std::string& prefix,
              TimeKind measured, ShownTimes& times) {
  for (const RunLayer& layer : layers) {
    if (layer.identity.empty()) continue;
    const std::string handle = handleOf(layer.identity);
    const FusedNode* fused = snapshot.fusedWith(handle);
    if (fused == nullptr || layer.types != layerTypesJson(*snapshot.plan, *fused).dump()) continue;
    ShownTime& time = times[prefix + handle];
    if (layer.emulated) {
      time.kind = TimeKind::Emulated;
    } else if (layer.medianMs && time.kind != TimeKind::Emulated) {
      time.kind = measured;
      time.ms += *layer.medianMs;
    }
    for (const RunBody& body : layer.bodies)
      if (const PlanSnapshot* inside = snapshot.body(fused->root, body.attribute))
        addTimes(body.layers, *inside, prefix + snapshot.graph().node(fused->root).name + "/", measured, times);
  }
}

}  // namespace

ShownTimes layerTimesOf(const std::vector<RunLayer>& layers, const PlanSnapshot& snapshot, TimeKind measured) {
  ShownTimes times;
  addTimes(layers, snapshot, {}, measured, times);
  return times;
}

}  // namespace fusescope
