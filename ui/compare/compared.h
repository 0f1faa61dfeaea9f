#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "diff/difference_groups.h"
#include "diff/union_cover.h"
#include "ui/canvas/canvas_builder.h"

namespace fusescope {

/// The input of comparedScenes(): the sides, and the differences between them.
struct Compared {
  const UnionCover& both;
  std::shared_ptr<const CoverParts> parts;  ///< of the union; must not be used by another thread meanwhile
  const DiffInput& a;
  const DiffInput& b;
  const std::vector<DifferenceGroup>& groups;
  std::optional<bool> fileIsA{};  ///< which side is the network of the file; nothing: neither
};
}  // namespace fusescope
