#include <array>

#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace {

/// From dark to light, or the reverse, what is worse stands out more; what is not finite has a colour of its own.
QColor levelColor(ErrorLevel level, const Theme& theme) {
  switch (level) {
    case ErrorLevel::Exact:
      return heatColor(0, theme);
    case ErrorLevel::FarWithin:
      return heatColor(0.2, theme);
    case ErrorLevel::Within:
      return heatColor(0.4, theme);
    case ErrorLevel::Beyond:
      return heatColor(0.75, theme);
    case ErrorLevel::FarBeyond:
      return heatColor(1, theme);
    case ErrorLevel::NotFinite:
      return theme.error;
    case ErrorLevel::Unknown:
      break;
  }
  return theme.disabledText;
}

BoxColor errorColor(const ColorSource& source, Which which) {
  const bool border = source.item.kind == ItemKind::Input || source.item.kind == ItemKind::Output;
  if (border)
    return {source.theme.dimText, QString(), Swatch{source.theme.dimText, {}, QStringLiteral("input, output")}, 1};
  const auto& error = source.error.errors.*which;
  const ErrorLevel level = levelOf(error, source.errorBound);
  const QColor color = levelColor(level, source.theme);
  QString badge = shortErrorText(error);
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
