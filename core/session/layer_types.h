#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "planning/plan.h"

namespace fusescope {

/// The types of a fused node's kernel. Measurements of the kernel are valid for a plan in which the kernel has the same
/// types.
struct LayerTypes {
  DataType compute = DataType::Undefined;
  std::vector<DataType> calculates;       ///< for each node, in the order of the graph
  std::vector<DataType> inputs, outputs;  ///< types in which it reads inputs and stores outputs
  bool operator==(const LayerTypes&) const = default;
};

LayerTypes layerTypes(const Cover& cover, const FusedNode& fused);

/// Returns { compute, calculates[], inputs[], outputs[] }.
Json toJson(const LayerTypes& types);
/// Reads that object, or its text as in session files. Returns nothing for a conversion, which has no types, or if it
/// is unreadable.
std::optional<LayerTypes> layerTypesFromJson(const Json& json);
/// Returns the JSON as text, as in session files; empty if there are no types.
std::string layerTypesText(const std::optional<LayerTypes>& types);

}  // namespace fusescope
