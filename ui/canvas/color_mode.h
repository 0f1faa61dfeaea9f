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

/// The colour of one box.
struct BoxColor {
  QColor fill;
  QString badge;                 ///< the meaning as a word on the box; empty: its precision is shown
  std::optional<Swatch> legend;  ///< its line of the legend, if it has one
  int legendPlace = 0;           ///< the order of lines; lines with equal values stay in the order in which they occur
  /// The key of its line in the legend if the text of the line depends on measurements. Empty: the text is the key.
  QString key{};
  QColor stripe{};  ///< colour of a second value of the same kind in the box; invalid: there is none
};

/// What the colour of a box is computed from.
struct ColorSource {
  const CanvasItem& item;
  const ShownTime& time;
  double largest;  ///< the largest ColorMode::amountOf of all boxes; 0: unknown
  const ShownError& error;
  double errorBound;  ///< the bound of max|Δ| over rms above which a node is wrong
  const Theme& theme;
};

/// What is written below the lines of the legend: nothing, which run measured the times, or how errors were measured.
enum class LegendOf { Colors, Times, Errors };

/// The meaning of the colours of boxes. Modes are listed in color_modes.inc.
struct ColorMode {
  std::string_view name;  ///< "precision": the name in the tool bar, for --color and in sessions
  const char* title;      ///< title of the legend
  LegendOf legend;
  BoxColor (*colorOf)(const ColorSource& source);
  /// Returns the amount of a box for a scale, in any unit. Null: the mode is not a scale.
  std::optional<double> (*amountOf)(const CanvasItem& item, const ShownTime& time) = nullptr;
  const char* note = "";  ///< text below the lines that says what the amounts are
};
/// Returns all modes; a window begins with the first.
const std::vector<const ColorMode*>& colorModes();
/// Returns null if there is none of that name.
const ColorMode* findColorMode(std::string_view name);

/// Returns whether the box is an input or output of the network, which has the same colour in all modes.
bool isBorderOfNetwork(const CanvasItem& item);
BoxColor borderOfNetworkColor(const Theme& theme);

/// Returns the colour of `amount` on a scale up to `largest`, whose steps each begin at half of the next higher one.
/// `text` formats an amount.
BoxColor scaleColor(std::optional<double> amount, double largest, const Theme& theme, QString (*text)(double amount));
/// Returns the colours of the steps, the largest amount first.
std::vector<QColor> scaleColors(const Theme& theme);

/// Returns the colour of the segment that an item is in, or is.
Swatch segmentSwatch(const CanvasItem& item, const Theme& theme);
/// Returns the colour of an error level: greens and blues within the bound, yellow and reds above it. Neighbouring
/// levels differ in lightness as well as in hue.
QColor levelColor(ErrorLevel level, const Theme& theme);
/// Returns the level as a sign, so that colour is never the only clue: "=", "≪", "<", "~", ">", "≫", "∞", "?"; empty if
/// it is unknown.
QString levelSign(ErrorLevel level);
/// Returns the colour and text for the most important kind of decision about a box.
Swatch decidedSwatch(Decided decided, const Theme& theme);

}  // namespace fusescope
