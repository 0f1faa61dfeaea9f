#pragma once

#include <QPainter>
#include <QSet>
#include <set>

#include "ui/canvas/canvas_badges.h"
#include "ui/canvas/canvas_overlay.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/canvas/color_mode.h"
#include "ui/canvas/graph_view.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// What of a run the canvas shows.
struct CanvasNumbers {
  ShownTimes times;
  ShownErrors errors;
};

/// How one item is painted.
struct ItemColor {
  QColor fill;
  QString badge;  ///< the same as a word: "f16"
  QColor badgeFill;
  QColor stripe;            ///< of a second type; invalid: there is none
  QString key;              ///< of its line of the legend; empty: it has none
  std::vector<Mark> marks;  ///< that stand on it as words
};

/// A line of the legend.
struct LegendLine {
  Swatch swatch;
  QString key;    ///< of the same line in any plan
  int boxes = 0;  ///< that have it
};

/// What the boxes of a scene are coloured by. What of it depends on the theme is looked up item by item when it is
/// painted, so that a change of theme costs what is on screen, however large the network. A value, for one thread; a
/// copy is another thread's to use.
class CanvasColors {
 public:
  CanvasColors() = default;
  CanvasColors(std::shared_ptr<const CanvasScene> scene, const ColorMode& mode, CanvasNumbers numbers,
               const Theme& theme);
  void setTheme(const Theme& theme);
  const Theme& theme() const { return m_theme; }

  const ItemColor& of(std::size_t item) const;
  /// How many items were looked up in this theme.
  std::size_t lookedUp() const { return m_lookedUp; }
  const ShownTime& time(std::size_t item) const { return m_time[item]; }
  /// As timeText(); empty where nothing is known.
  QString timeWords(std::size_t item) const {
    return m_time[item].kind == TimeKind::Unknown ? QString() : timeText(m_time[item]);
  }
  std::vector<LegendLine> legend() const;  ///< of the colours that occur
  /// Why a box has a mark, with its numbers.
  QString markWords(std::size_t item, Mark mark) const;

  double largest = 0;             ///< of a scale: its end; 0: nothing is known
  double allMs = 0;               ///< of all kernels that the run on screen measured of this plan; 0: none
  std::set<TimeKind> timeKinds;   ///< of the times that there are
  QStringList notes;              ///< of errors: what they were made with, and what signs beside them mean
  bool anyPrediction = false;     ///< some fusions are predictions
  bool anyDerived = false;        ///< some kernels hold nodes that their compiler does not name
  bool anyGuessed = false;        ///< some hold nodes of which it says nothing that would tell it
  bool anyWithoutKernel = false;  ///< some nodes have no kernel

 private:
  BoxColor boxColor(std::size_t item) const;
  void findLegend();

  std::shared_ptr<const CanvasScene> m_scene;
  const ColorMode* m_mode = nullptr;
  CanvasNumbers m_numbers;
  Theme m_theme;
  std::vector<ShownTime> m_time;  ///< by item
  struct OfLegend {
    std::size_t item;  ///< one that has the line's colour
    int boxes;
  };
  std::vector<OfLegend> m_ofLegend;  ///< by line of the legend
  mutable std::vector<ItemColor> m_color;
  mutable std::vector<bool> m_isLookedUp;
  mutable std::size_t m_lookedUp = 0;
};

/// All that changes between two pictures of one scene.
struct CanvasLook {
  const Theme* theme = nullptr;
  const CanvasColors* colors = nullptr;
  const QSet<int>* selected = nullptr;
  const QSet<int>* matches = nullptr;   ///< null: no search
  const QSet<QString>* only = nullptr;  ///< keys of the lines of the legend that are not dimmed; null: nothing is
  int failing = -1;                     ///< where the shown run first goes wrong; -1: nowhere
  int current = -1;                     ///< has the keyboard
  int hovered = -1;
  bool focus = false;
  const CanvasOverlay* overlay = nullptr;     ///< of a comparison; null: none
  const std::vector<QRectF>* from = nullptr;  ///< where items were, null rectangles for new ones; with `progress`
  double progress = 1;
};

/// The names of shared inputs that a box has room for; the last is "+3" for three that it has none for.
QStringList stubLabels(const CanvasItem& item);

/// Colors: boxes as colours alone. Names: titles, as large as they must be to be read. Full: all lines of a box whose
/// letters have metrics::kLeastPixels.
enum class Detail { Colors, Names, Full };
Detail detailAt(double scale);

/// Paints what of the scene meets `visible` (scene coordinates; the painter is set up for them). `scale`: device-
/// independent pixels per scene unit, which decides how much is shown.
void paintCanvas(QPainter& painter, const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                 double scale);

}  // namespace fusescope
