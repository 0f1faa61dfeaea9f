#include "ui/canvas/color_mode.h"

namespace fusescope {

QColor levelColor(ErrorLevel level, const Theme& theme) {
  switch (level) {
    case ErrorLevel::CannotBeTold:
      return mixed(theme.dimText, theme.text, 0.75);
    case ErrorLevel::Exact:
      return mixed(theme.dimText, theme.accent, 0.3);
    case ErrorLevel::FarWithin:
      return mixed(theme.dimText, theme.accent, 0.65);
    case ErrorLevel::Within:
      return theme.accent;
    case ErrorLevel::Harmless:
      return mixed(theme.dimText, theme.warning, 0.4);
    case ErrorLevel::Beyond:
      return theme.warning;
    case ErrorLevel::FarBeyond:
      return mixed(theme.warning, theme.error, 0.55);
    case ErrorLevel::NotFinite:
      return theme.error;
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
  QString badge = shortErrorText(source.error.errors.*which);
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
