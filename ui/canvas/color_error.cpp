#include "ui/canvas/color_mode.h"

namespace fusescope {

// From green to red; each step is of another hue than the ones beside it.
QColor levelColor(ErrorLevel level, const Theme& theme) {
  const auto byTheme = [&](const char* dark, const char* light) {
    return QColor(QLatin1String(theme.kind == ThemeKind::Dark ? dark : light));
  };
  switch (level) {
    case ErrorLevel::CannotBeTold:
      return mixed(theme.dimText, theme.text, 0.75);
    case ErrorLevel::Exact:
      return byTheme("#4cc38a", "#14703f");
    case ErrorLevel::FarWithin:
      return byTheme("#46c3d0", "#147f94");
    case ErrorLevel::Within:
      return byTheme("#5aa9ff", "#0a5fca");
    case ErrorLevel::Harmless:
      return byTheme("#c493dd", "#8a4aa8");
    case ErrorLevel::Beyond:
      return byTheme("#f0b34a", "#8a6a00");
    case ErrorLevel::FarBeyond:
      return byTheme("#f27d3a", "#b84400");
    case ErrorLevel::NotFinite:
      return byTheme("#ff5d73", "#b3123f");
    case ErrorLevel::Unknown:
      break;
  }
  return theme.disabledText;
}

namespace {

BoxColor errorColor(const ColorSource& source, Which which) {
  const bool border = source.item.kind == ItemKind::Input || source.item.kind == ItemKind::Output;
  if (border)
    return {source.theme.dimText, QString(), Swatch{source.theme.dimText, {}, QStringLiteral("input, output")}, 1};
  const ErrorLevel level = levelOf(source.error, which, source.errorBound);
  const QColor color = levelColor(level, source.theme);
  QString badge = shortErrorText(source.error.errors.*which, source.errorBound);
  if (!badge.isEmpty() && source.error.kind == ErrorKind::OfOtherPlan) badge = QStringLiteral("[%1]").arg(badge);
  // What is worst stands first.
  return {color, badge, Swatch{color, QString(), levelText(level)}, -static_cast<int>(level)};
}

}  // namespace

extern const ColorMode kErrorColors{
    "error", "Local error: max|Δ| of rms", LegendOf::Errors,
    [](const ColorSource& source) { return errorColor(source, &LocalAndCarried::local); }};
extern const ColorMode kCarriedColors{
    "carried", "Carried error: max|Δ| of rms", LegendOf::Errors,
    [](const ColorSource& source) { return errorColor(source, &LocalAndCarried::carried); }};

}  // namespace fusescope
