#pragma once

#include <QPainter>
#include <QSet>
#include <set>

#include "ui/canvas/canvas_scene.h"
#include "ui/canvas/color_mode.h"
#include "ui/canvas/graph_view.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// What the boxes' colours stand for, item by item.
struct CanvasColors {
  std::vector<QColor> fill;    ///< by item
  std::vector<QString> badge;  ///< the same as a word: "f16"
  std::vector<QColor> badgeFill;
  std::vector<ShownTime> time;
  std::vector<Swatch> legend;    ///< of the colours that occur
  double slowestMs = 0;          ///< Time: the end of the scale; 0: no times
  std::set<TimeKind> timeKinds;  ///< of the times that there are
  QStringList notes;             ///< what errors or times were made with, and what signs beside them mean
  bool anyPrediction = false;    ///< some fusions are predictions
  /// As timeText(); empty where nothing is known.
  QString timeWords(std::size_t item) const {
    return time[item].kind == TimeKind::Unknown ? QString() : timeText(time[item]);
  }
};
/// What of a run the canvas shows.
struct CanvasNumbers {
  ShownTimes times;
  ShownErrors errors;
};
CanvasColors colorsOf(const CanvasScene& scene, const ColorMode& mode, const CanvasNumbers& numbers,
                      const Theme& theme);

/// All that changes between two pictures of one scene.
struct CanvasLook {
  const Theme* theme = nullptr;
  const CanvasColors* colors = nullptr;
  const QSet<int>* selected = nullptr;
  const QSet<int>* matches = nullptr;  ///< null: no search
  int failing = -1;                    ///< where the shown run first goes wrong; -1: nowhere
  int current = -1;                    ///< has the keyboard
  int hovered = -1;
  bool focus = false;
  const std::vector<QRectF>* from = nullptr;  ///< where items were, null rectangles for new ones; with `progress`
  double progress = 1;
};

/// The names of shared inputs that a box has room for; the last is "+3" for three that it has none for.
QStringList stubLabels(const CanvasItem& item);

enum class Detail { Colors, Names, Full };
Detail detailAt(double scale);

/// Paints what of the scene meets `visible` (scene coordinates; the painter is set up for them). `scale`: device-
/// independent pixels per scene unit, which decides how much is shown.
void paintCanvas(QPainter& painter, const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                 double scale);

}  // namespace fusescope
