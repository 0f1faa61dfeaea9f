#pragma once

#include <memory>
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

/// What is open at first: what is there in a network that is opened, and the groups whose kernels differ, as long as
/// there are not too many of them.
OpenState openWhereDifferent(const UnionCover& both, const CanvasFonts& fonts);

/// What scenes are made of: the sides, and what differs between them.
struct Compared {
  const UnionCover& both;
  const DiffInput& a;
  const DiffInput& b;
  const std::vector<DifferenceGroup>& groups;
};
/// The union is laid out once. Any thread.
Result<std::shared_ptr<const ComparedScenes>> comparedScenes(const Compared& compared, const OpenState& open,
                                                             const CanvasFonts& fonts, const LayoutOptions& options);

}  // namespace fusescope
