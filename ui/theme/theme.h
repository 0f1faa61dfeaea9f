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

/// Colours of the window. Whatever is read has a contrast of at least 4.5:1 to what it stands on, and lines that mean
/// something 3:1; what is disabled or faded by a search has less. A value; dark() and light() are the two there are.
struct Theme {
  ThemeKind kind = ThemeKind::Dark;
  QColor window;      ///< behind docks and bars
  QColor base;        ///< lists, text fields
  QColor raised;      ///< buttons, headers, cards
  QColor canvas;      ///< behind the graph
  QColor canvasDots;  ///< its grid
  QColor box;         ///< a box before its colour is mixed in
  QColor container;   ///< inside an open container
  QColor border;
  QColor text;
  QColor dimText;  ///< second lines
  QColor disabledText;
  QColor edge;
  QColor accent;    ///< what is selected and what has the focus; nothing else has it, or one that looks like it
  QColor onAccent;  ///< text on accent
  QColor link;      ///< text that can be clicked
  QColor chart;     ///< bars, points and progress that mean an amount and nothing more
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

/// Behind what is selected in lists and tables.
QColor selectionColor(const Theme& theme);
/// Sets Fusion, palette, fonts and style sheet. May be called again to switch.
void applyTheme(QApplication& application, const Theme& theme);
QFont uiFont(double pointSize = 10.0, QFont::Weight weight = QFont::Normal);
QFont monoFont(double pointSize = 9.5);

/// A colour that is also a word: no information is in the colour alone.
struct Swatch {
  QColor color;
  QString label;  ///< short enough for a badge: "f16"
  QString text;   ///< for the legend: "float16"
};
/// f32, f16, bf16, f64, f8, int8, int32/int64, bool; told apart by people who do not see red or green as well. f32,
/// which is not lowered to anything, has no hue.
Swatch precisionSwatch(DataType type, const Theme& theme);
std::vector<Swatch> precisionLegend(const Theme& theme);
/// By kind of fused node ("conv", "matmul", …); an unknown kind has the colour of "other".
Swatch kindSwatch(std::string_view kind, const Theme& theme);
/// Distinct colours for the first twelve segments, which then come again; fallback segments are grey.
QColor segmentColor(int index, bool fallback, const Theme& theme);
/// 0 … 1 to a scale of rising lightness (dark theme) or darkness (light): readable in greyscale.
QColor heatColor(double fraction, const Theme& theme);
/// Black or white, whichever reads better on `background`.
QColor readableOn(const QColor& background);
/// The WCAG 2 contrast ratio, 1 … 21.
double contrastRatio(const QColor& a, const QColor& b);
QColor mixed(const QColor& a, const QColor& b, double shareOfB);

/// An icon of resources/icons by its file name without ".svg", drawn in the theme's text colour.
QIcon themedIcon(const QString& name, const Theme& theme);

}  // namespace fusescope
