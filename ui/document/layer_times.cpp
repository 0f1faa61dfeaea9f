#include "ui/document/layer_times.h"

#include "planning/fused_node_facts.h"
#include "session/session.h"

namespace fusescope {
namespace {

void addTimes(const Json& layers, const PlanSnapshot& snapshot, const std::string& prefix,
              std::map<std::string, double>& times) {
  for (const Json& layer : layers) {
    if (!layer.contains("identity") || !layer["identity"].is_string()) continue;
    const std::string handle = handleOf(layer["identity"].get<std::string>());
    const FusedNode* fused = snapshot.fusedWith(handle);
    if (fused == nullptr || layer.value("types", Json()) != layerTypesJson(*snapshot.plan, *fused)) continue;
    if (const Json& ms = layer.at("median_ms"); ms.is_number()) times[prefix + handle] += ms.get<double>();
    for (const Json& body : layer.value("bodies", Json::array())) {
      const PlanSnapshot* inside = snapshot.body(fused->root, body.at("attribute").get<std::string>());
      if (inside != nullptr)
        addTimes(body.at("layers"), *inside, prefix + snapshot.graph().node(fused->root).name + "/", times);
    }
  }
}

}  // namespace

std::map<std::string, double> layerTimesOf(const Json& time, const PlanSnapshot& snapshot) {
  std::map<std::string, double> times;
  if (time.is_object() && time.contains("layers")) addTimes(time["layers"], snapshot, {}, times);
  return times;
}

}  // namespace fusescope
