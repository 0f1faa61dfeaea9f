#pragma once

#include <memory>

#include "ui/canvas/canvas_builder.h"
#include "ui/canvas/canvas_overlay.h"
#include "ui/compare/compared.h"

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

/// Makes both scenes from one layout of the union. May run on any thread.
Result<std::shared_ptr<const ComparedScenes>> comparedScenes(const Compared& compared, const OpenState& open,
                                                             const CanvasFonts& fonts, const LayoutOptions& options);

}  // namespace fusescope
