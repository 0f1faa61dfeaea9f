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

/// The numbers of a run that the canvas shows.
struct CanvasNumbers {
  ShownTimes times;
  ShownErrors errors;
};

/// How one item is painted.
struct ItemColor {
  QColor fill;
  QString badge;  ///< the meaning of the colour as a word: "f16"
  QColor badgeFill;
  QColor stripe;            ///< colour of a second type; invalid: there is none
  QString key;              ///< the key of its line in the legend; empty: it has none
  std::vector<Mark> marks;  ///< shown on it as words
};

/// A line of the legend.
struct LegendLine {
  Swatch swatch;
  QString key;    ///< identifies the line in all plans
  int boxes = 0;  ///< number of boxes with this colour
};

/// The colours of the boxes of a scene. What depends on the theme is computed for each item when it is painted, so that
/// a change of theme only costs what is on screen, however large the network is. It is a value for one thread; a copy
/// may be used by another thread.
class CanvasColors {
 public:
  CanvasColors() = default;
  CanvasColors(std::shared_ptr<const CanvasScene> scene, const ColorMode& mode, CanvasNumbers numbers,
               const Theme& theme);
  void setTheme(const Theme& theme);
  const Theme& theme() const { return m_theme; }

  const ItemColor& of(std::size_t item) const;
  /// Returns how many items were computed in this theme.
  std::size_t lookedUp() const { return m_lookedUp; }
  const ShownTime& time(std::size_t item) const { return m_time[item]; }
  /// Returns timeText(); empty if the time is unknown.
  QString timeWords(std::size_t item) const {
    return m_time[item].kind == TimeKind::Unknown ? QString() : timeText(m_time[item]);
  }
  std::vector<LegendLine> legend() const;  ///< the colours that occur
  /// Returns why a box has a mark, with the numbers.
  QString markWords(std::size_t item, Mark mark) const;

  double largest = 0;             ///< for a scale, its largest amount; 0: unknown
  double allMs = 0;               ///< the time of all kernels that the displayed run measured for this plan; 0: none
  std::set<TimeKind> timeKinds;   ///< kinds of the known times
  QStringList notes;              ///< for errors: what they were measured with, and what the signs beside them mean
  bool anyPrediction = false;     ///< some fusions are predictions
  bool anyDerived = false;        ///< some kernels contain nodes that their compiler does not name
  bool anyGuessed = false;        ///< some kernels contain nodes whose assignment is guessed
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

/// Paints the part of the scene that meets `visible`. The painter uses scene coordinates. `scale` is the number of
/// device-independent pixels per scene unit and determines the detail.
void paintCanvas(QPainter& painter, const CanvasScene& scene, const CanvasLook& look, const QRectF& visible,
                 double scale);

}  // namespace fusescope
