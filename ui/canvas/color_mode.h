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
  /// What its line of the legend is known by where the text of that changes with what was measured. Empty: its text.
  QString key{};
  QColor stripe{};  ///< of a second thing of the same sort in the box; invalid: there is none
};

/// What a box's colour is told from.
struct ColorSource {
  const CanvasItem& item;
  const ShownTime& time;
  double largest;  ///< of all boxes, what ColorMode::amountOf gives; 0: nothing is known
  const ShownError& error;
  double errorBound;  ///< of max|Δ| over rms: beyond it a node is wrong
  const Theme& theme;
};

/// What stands below the lines of the legend: nothing more, which run measured times, or what errors were made with.
enum class LegendOf { Colors, Times, Errors };

/// What the fill of boxes tells. Modes are listed in color_modes.inc.
struct ColorMode {
  std::string_view name;  ///< "precision": in the tool bar, for --color, in sessions
  const char* title;      ///< of the legend
  LegendOf legend;
  BoxColor (*colorOf)(const ColorSource& source);
  /// The amount that a scale tells of a box, in whatever unit. Null: the mode is no scale.
  std::optional<double> (*amountOf)(const CanvasItem& item, const ShownTime& time) = nullptr;
  const char* note = "";  ///< below the lines: what the amounts are of
};
/// All modes; the first is what a window begins with.
const std::vector<const ColorMode*>& colorModes();
/// Null if there is none of that name.
const ColorMode* findColorMode(std::string_view name);

/// What a box stands for that no mode tells apart: an input or output of the network.
bool isBorderOfNetwork(const CanvasItem& item);
BoxColor borderOfNetworkColor(const Theme& theme);

/// A scale in steps, each from a half of the one above it: of `amount` beside `largest`. `text` writes an amount.
BoxColor scaleColor(std::optional<double> amount, double largest, const Theme& theme, QString (*text)(double amount));
/// The colours of its steps, the largest first.
std::vector<QColor> scaleColors(const Theme& theme);

/// The colour of the segment that an item is in, or is.
Swatch segmentSwatch(const CanvasItem& item, const Theme& theme);
/// Steps of a scale: greens and blues within what is allowed, yellow and reds beyond it. Neighbours differ in lightness
/// as well as in hue.
QColor levelColor(ErrorLevel level, const Theme& theme);
/// The step as a sign, so that no colour stands alone: "=", "≪", "<", "~", ">", "≫", "∞", "?"; empty: not known.
QString levelSign(ErrorLevel level);
/// The kind of decision that weighs most on a box, as a colour, and in words.
Swatch decidedSwatch(Decided decided, const Theme& theme);

}  // namespace fusescope
