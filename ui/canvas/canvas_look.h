#pragma once

#include <QRectF>
#include <QSet>
#include <QString>
#include <QStringList>
#include <vector>

#include "ui/canvas/canvas_colors.h"
#include "ui/canvas/canvas_overlay.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// Everything that can differ between two pictures of one scene.
struct CanvasLook {
  const Theme* theme = nullptr;
  const CanvasColors* colors = nullptr;
  const QSet<int>* selected = nullptr;
  const QSet<int>* matches = nullptr;   ///< null: no search
  const QSet<QString>* only = nullptr;  ///< keys of the lines of the legend that are not dimmed; null: nothing is
                                        ///< dimmed
  int failing = -1;                     ///< where the displayed run first becomes wrong; -1: nowhere
  int current = -1;                     ///< the item with the keyboard focus
  int hovered = -1;
  bool focus = false;
  const CanvasOverlay* overlay = nullptr;     ///< overlay of a comparison; null: none
  const std::vector<QRectF>* from = nullptr;  ///< former rectangles of items for an animation, null rectangles for new
                                              ///< ones; used with `progress`
  double progress = 1;
};

/// Returns the names of shared inputs for which a box has room; if there are more, the last one is "+3".
QStringList stubLabels(const CanvasItem& item);

/// Colors: boxes only as colours. Names: titles, large enough to be read. Full: all lines of a box whose letters have
/// at least metrics::kLeastPixels.
enum class Detail { Colors, Names, Full };
Detail detailAt(double scale);

}  // namespace fusescope
