#include "compilers/tensorrt/log_agreement.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "compilers/tensorrt/layer_facts.h"
#include "compilers/tensorrt/layer_names.h"
#include "frontends/tensorrt/layer_network.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr const char* kByTensorrt = "tensorrt";

/// Returns the names of layers that are in every list of one build: those outside of regions that are made from nodes.
std::set<std::string_view> comparedNames(const std::vector<ListedLayer>& layers) {
  std::set<std::string_view> names;
  for (const ListedLayer& layer : layers) {
    const bool isInRegion = layer.name.starts_with("{ForeignNode[") || !regionNumber(layer.name).empty();
    if (!isInRegion && !isInsertedLayer(layer.name) && !onlyMoves(layer)) names.insert(layer.name);
  }
  return names;
}

std::optional<Decision> layersContradict(const EngineFiles& files, std::string_view file) {
  if (files.log->layers.empty()) return std::nullopt;
  const auto described = comparedNames(files.layers.layers), listed = comparedNames(files.log->layers);
  std::set<std::string_view> all = described;
  all.insert(listed.begin(), listed.end());
  const auto inOneAlone = std::ranges::count_if(
      all, [&](std::string_view name) { return described.contains(name) != listed.contains(name); });
  if (inOneAlone == 0) return std::nullopt;
  return decide("build.log_of_another", {}, kByTensorrt,
                {{"file", file}, {"unmatched", inOneAlone}, {"layers", std::ssize(all)}});
}

/// A node without a name is identified by its outputs.
std::optional<Decision> nodesContradict(const EngineFiles& files, const Model& model, std::string_view file) {
  if (isOfEngineLayers(model)) return std::nullopt;
  std::set<std::string_view> names;
  for (const Origin& origin : model.origins) names.insert(origin.name);
  const auto isKnown = [&](const EngineLog::Node& node) {
    const auto isMade = [&](const EngineLog::Tensor& tensor) {
      return model.graph->findValue(tensor.name).has_value();
    };
    return names.contains(node.name) || std::ranges::any_of(node.outputs, isMade);
  };
  const auto& met = files.log->nodes;
  const auto unknown = std::ssize(met) - std::ranges::count_if(met, isKnown);
  if (2 * unknown <= std::ssize(met)) return std::nullopt;
  return decide("build.log_of_another_network", {}, kByTensorrt,
                {{"file", file}, {"unmatched", unknown}, {"nodes", std::ssize(met)}});
}

}  // namespace

std::optional<Decision> logMismatch(const EngineFiles& files, const Model& model, std::string_view file) {
  if (!files.log) return std::nullopt;
  auto ofNetwork = nodesContradict(files, model, file);
  return ofNetwork ? ofNetwork : layersContradict(files, file);
}

}  // namespace fusescope
