#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "diff/difference_groups.h"
#include "diff/union_cover.h"
#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/canvas_overlay.h"

namespace fusescope {

/// The pictures of both sides of a comparison: the same items and edges at the same places, each with the texts of its
/// own side. Const after it is made.
struct ComparedScenes {
  OpenState open;
  std::shared_ptr<const CanvasScene> a, b;
  std::shared_ptr<const CanvasOverlay> overlayOfA, overlayOfB;
};

/// Returns what is open at first: as much as a view of this size has room for, and the groups whose kernels differ
/// together with their surroundings, unless there are too many of these. `parts` is that of the union, and must not be
/// used by another thread meanwhile.
OpenState openWhereDifferent(const UnionCover& both, const std::shared_ptr<const CoverParts>& parts,
                             const QSizeF& room);

/// The input of comparedScenes(): the sides, and the differences between them.
struct Compared {
  const UnionCover& both;
  std::shared_ptr<const CoverParts> parts;  ///< of the union; must not be used by another thread meanwhile
  const DiffInput& a;
  const DiffInput& b;
  const std::vector<DifferenceGroup>& groups;
  std::optional<bool> fileIsA{};  ///< which side is the network of the file; nothing: neither
};
/// Makes both scenes from one layout of the union. May run on any thread.
Result<std::shared_ptr<const ComparedScenes>> comparedScenes(const Compared& compared, const OpenState& open,
                                                             const CanvasFonts& fonts, const LayoutOptions& options);

}  // namespace fusescope
