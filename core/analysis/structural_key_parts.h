#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fusescope {

/// What a structural key says, part by part, as text for people. Regions with equal keys have equal parts.
struct StructuralParts {
  /// A value of the region, in the order in which the nodes name them.
  struct NamedValue {
    std::string description;  ///< RegionContent::describe, as it was given
    bool isConstant = false;
    std::string type, extents;  ///< of a constant: "f32", "64x3x3"; else empty
    std::string content;        ///< of a structural constant: "0.5", "1 2 3"; else empty
  };

  std::string context;                  ///< RegionContent::context, as it was given
  std::vector<std::string> operators;   ///< of each node: "Conv"
  std::vector<std::string> attributes;  ///< of all nodes: "epsilon=1e-05"
  std::vector<std::string> wiring;      ///< of each node: "0 1 - > 2", where the numbers are places in `values`
  std::vector<NamedValue> values;
};

/// Reads the parts of a key that structuralKey() made. Returns nothing if it is not such a key.
std::optional<StructuralParts> structuralPartsOf(std::string_view key);

}  // namespace fusescope
