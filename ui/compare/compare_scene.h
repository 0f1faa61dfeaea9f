#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "diff/difference_groups.h"
#include "diff/union_cover.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/canvas_overlay.h"

namespace fusescope {

/// The pictures of both sides of a comparison: the same items and edges at the same places, each with what its own side
/// says. Const once made.
struct ComparedScenes {
  OpenState open;
  std::shared_ptr<const CanvasScene> a, b;
  std::shared_ptr<const CanvasOverlay> overlayOfA, overlayOfB;
};

/// What is open at first: as much as has room in a view of this size, and the groups whose kernels differ with what is
/// around them, as long as there are not too many of these. `parts`: of the union, used by no other thread meanwhile.
OpenState openWhereDifferent(const UnionCover& both, const std::shared_ptr<const CoverParts>& parts,
                             const QSizeF& room);

/// What scenes are made of: the sides, and what differs between them.
struct Compared {
  const UnionCover& both;
  std::shared_ptr<const CoverParts> parts;  ///< of the union, used by no other thread meanwhile
  const DiffInput& a;
  const DiffInput& b;
  const std::vector<DifferenceGroup>& groups;
  std::optional<bool> fileIsA{};  ///< which side is the network as it lies in the file; nothing: neither is
};
/// The union is laid out once. Any thread.
Result<std::shared_ptr<const ComparedScenes>> comparedScenes(const Compared& compared, const OpenState& open,
                                                             const CanvasFonts& fonts, const LayoutOptions& options);

}  // namespace fusescope
