#include "interchange/recipes/registered_layers.h"

#include <algorithm>

#include "base/text.h"

namespace fusescope {
namespace {

/// `name` without one trailing "_<number>", or empty.
std::string_view withoutSuffix(std::string_view name) {
  const auto end = name.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == name.size() || name[end] != '_') return {};
  return name.substr(0, end);
}

}  // namespace

LayersOfNodes registeredLayers(std::string_view log) {
  constexpr std::string_view kBegin = "Registering layer: ";
  constexpr std::string_view kMiddle = " for ONNX node: ";
  LayersOfNodes layers;
  for (auto line : split(log, '\n')) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    const auto begin = line.find(kBegin);
    const auto middle = line.rfind(kMiddle);
    if (begin == std::string::npos || middle == std::string::npos || middle < begin + kBegin.size()) continue;
    const auto layer = line.substr(begin + kBegin.size(), middle - begin - kBegin.size());
    auto& known = layers[line.substr(middle + kMiddle.size())];
    if (std::ranges::find(known, layer) == known.end()) known.push_back(layer);
  }
  return layers;
}

std::string otherNode(const std::set<std::string, std::less<>>& names, std::string_view name) {
  for (auto base = withoutSuffix(name); !base.empty(); base = withoutSuffix(base)) {
    if (names.contains(base)) return std::string(base);
  }
  return {};
}

}  // namespace fusescope
