#include "ui/document/layer_times.h"

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "session/layer_types.h"

namespace fusescope {
namespace {

void addTimes(const std::vector<RunLayer>& layers, const PlanSnapshot& snapshot, const BodyPath& path,
              TimeKind measured, ShownTimes::Map& times) {
  for (const RunLayer& layer : layers) {
    addTimes(layer.kernels, snapshot, path, measured, times);
    if (layer.identity.empty()) continue;
    const std::string handle = handleOf(layer.identity);
    const FusedNode* fused = snapshot.fusedWith(handle);
    if (fused == nullptr || layer.types != layerTypes(*snapshot.cover, *fused)) continue;
    if (layer.emulated) {
      times[path.exactly(handle)] = {TimeKind::Emulated};
    } else if (layer.medianMs) {
      ShownTime& time = times[path.exactly(handle)];
      if (time.kind != TimeKind::Emulated) time = {measured, time.ms + *layer.medianMs, layer.tactic};
    }
    for (const RunBody& body : layer.bodies) {
      const PlanSnapshot* inside = snapshot.body(fused->root, body.attribute);
      if (inside != nullptr)
        addTimes(body.layers, *inside, path.into(snapshot.graph().node(fused->root), body.attribute), measured, times);
    }
  }
}

}  // namespace

ShownTimes layerTimesOf(const RunTime& time, const PlanSnapshot& snapshot, TimeKind measured) {
  ShownTimes::Map times;
  times.reserve(time.layers.size());
  addTimes(time.layers, snapshot, {}, measured, times);
  return ShownTimes(std::move(times));
}

}  // namespace fusescope
