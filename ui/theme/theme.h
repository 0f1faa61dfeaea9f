#pragma once

#include <QColor>
#include <QFont>
#include <QIcon>
#include <QString>
#include <string_view>
#include <vector>

#include "base/data_type.h"

class QApplication;

namespace fusescope {

enum class ThemeKind { Dark, Light };

/// The colours of the window. Text has a contrast of at least 4.5:1 to its background, and meaningful lines 3:1; what
/// is disabled, or faded by a search, has less. It is a value; dark() and light() are the only two.
struct Theme {
  ThemeKind kind = ThemeKind::Dark;
  QColor window;      ///< background of docks and bars
  QColor base;        ///< lists, text fields
  QColor raised;      ///< buttons, headers, cards
  QColor canvas;      ///< background of the graph
  QColor canvasDots;  ///< its grid
  QColor box;         ///< a box before its colour is mixed in
  QColor container;   ///< background of an open container
  QColor border;
  QColor text;
  QColor dimText;  ///< second lines
  QColor disabledText;
  QColor edge;
  QColor accent;    ///< what is selected or has the focus; no other colour is equal or similar to it
  QColor onAccent;  ///< text on accent
  QColor link;      ///< text that can be clicked
  QColor chart;     ///< bars, points and progress that mean only an amount
  QColor match;     ///< search hits
  QColor success, warning, error;

  static const Theme& dark();
  static const Theme& light();
  static const Theme& of(ThemeKind kind) { return kind == ThemeKind::Dark ? dark() : light(); }
};

/// Distances in device-independent pixels; everything is a multiple of the unit.
namespace spacing {
constexpr int kUnit = 4;
constexpr int kSmall = 4;
constexpr int kMedium = 8;
constexpr int kLarge = 16;
constexpr int kRadius = 6;
}  // namespace spacing

/// Returns the background of selected rows in lists and tables.
QColor selectionColor(const Theme& theme);
/// Sets the Fusion style, palette, fonts and style sheet. It may be called again to switch.
void applyTheme(QApplication& application, const Theme& theme);
QFont uiFont(double pointSize = 10.0, QFont::Weight weight = QFont::Normal);
QFont monoFont(double pointSize = 9.5);

/// A colour that is also a word, so that colour is never the only information.
struct Swatch {
  QColor color;
  QString label;  ///< short enough for a badge: "f16"
  QString text;   ///< for the legend: "float16"
};
/// Returns the colour of f32, f16, bf16, f64, f8, int8, int32/int64 or bool. They can be distinguished by people who
/// are red-green colour-blind. f32, which is not lowered, has no hue.
Swatch precisionSwatch(DataType type, const Theme& theme);
std::vector<Swatch> precisionLegend(const Theme& theme);
/// Returns the colour of a kind of fused node ("conv", "matmul", …); an unknown kind has the colour of "other".
Swatch kindSwatch(std::string_view kind, const Theme& theme);
/// Returns the colours of all families of kinds (kindFamily()), in the order of the legend. Their labels are the names
/// of the families.
std::vector<Swatch> kindLegend(const Theme& theme);
/// Returns distinct colours for the first twelve segments, after which they repeat; fallback segments are grey.
QColor segmentColor(int index, bool fallback, const Theme& theme);
/// Maps 0 … 1 to a scale of increasing lightness (dark theme) or darkness (light theme), which is readable in
/// greyscale.
QColor heatColor(double fraction, const Theme& theme);
/// Returns black or white, whichever is more readable on `background`.
QColor readableOn(const QColor& background);
/// Returns the WCAG 2 contrast ratio, 1 … 21.
double contrastRatio(const QColor& a, const QColor& b);
QColor mixed(const QColor& a, const QColor& b, double shareOfB);

/// Returns an icon of resources/icons by its file name without ".svg", in the theme's text colour.
QIcon themedIcon(const QString& name, const Theme& theme);

}  // namespace fusescope
