#pragma once

#include <QString>
#include <optional>
#include <string_view>
#include <vector>

#include "ui/canvas/canvas_scene.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/theme/theme.h"

namespace fusescope {

/// How one box is coloured.
struct BoxColor {
  QColor fill;
  QString badge;                 ///< the same as a word, on the box; empty: its precision stands there
  std::optional<Swatch> legend;  ///< its line of the legend, if it has one
  int legendPlace = 0;           ///< lines stand by this, of equal ones in the order in which they occur
};

/// What a box's colour is told from.
struct ColorSource {
  const CanvasItem& item;
  const ShownTime& time;
  double slowestMs;  ///< of all boxes; 0: no times
  const ShownError& error;
  double errorBound;  ///< of max|Δ| over rms: beyond it a node is wrong
  const Theme& theme;
};

/// What the legend shows: a line for each colour that occurs, the scale of times, or those lines and what errors were
/// made with.
enum class LegendOf { Colors, Times, Errors };

/// What the fill of boxes tells. Modes are listed in color_modes.inc.
struct ColorMode {
  std::string_view name;  ///< "precision": in the tool bar, for --color, in sessions
  const char* title;      ///< of the legend
  LegendOf legend;
  BoxColor (*colorOf)(const ColorSource& source);
};
/// All modes; the first is what a window begins with.
const std::vector<const ColorMode*>& colorModes();
/// Null if there is none of that name.
const ColorMode* findColorMode(std::string_view name);

/// The colour of the segment that an item is in, or is.
Swatch segmentSwatch(const CanvasItem& item, const Theme& theme);
/// Blue as far as an error is within what is allowed, then amber, then red.
QColor levelColor(ErrorLevel level, const Theme& theme);
Swatch itemPrecisionSwatch(const CanvasItem& item, const Theme& theme);

}  // namespace fusescope
