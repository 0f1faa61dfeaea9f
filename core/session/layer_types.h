#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "planning/plan.h"

namespace fusescope {

/// The types of a fused node's kernel: what was measured of it holds for a plan in which it has the same.
struct LayerTypes {
  DataType compute = DataType::Undefined;
  std::vector<DataType> calculates;       ///< by node, in the order of the graph
  std::vector<DataType> inputs, outputs;  ///< what it reads, and leaves in memory
  bool operator==(const LayerTypes&) const = default;
};

LayerTypes layerTypes(const Cover& cover, const FusedNode& fused);

/// { compute, calculates[], inputs[], outputs[] }
Json toJson(const LayerTypes& types);
/// Of that, or of its text, as session files hold it. Nothing where there are none: of a conversion, or unreadable.
std::optional<LayerTypes> layerTypesFromJson(const Json& json);
/// As session files hold them: the JSON as text; empty where there are none.
std::string layerTypesText(const std::optional<LayerTypes>& types);

}  // namespace fusescope
