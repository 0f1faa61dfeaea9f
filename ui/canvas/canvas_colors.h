#pragma once

#include <QColor>
#include <QString>
#include <QStringList>
#include <memory>
#include <set>
#include <vector>

#include "ui/canvas/canvas_badges.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/canvas/color_mode.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/theme/theme.h"

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
  std::vector<ShownTime> m_time;  ///< indexed by item
  struct OfLegend {
    std::size_t item;  ///< an item that has the line's colour
    int boxes;
  };
  std::vector<OfLegend> m_ofLegend;  ///< indexed by line of the legend
  mutable std::vector<ItemColor> m_color;
  mutable std::vector<bool> m_isLookedUp;
  mutable std::size_t m_lookedUp = 0;
};

}  // namespace fusescope
