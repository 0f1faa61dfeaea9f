#include "ui/canvas/color_mode.h"

namespace fusescope {

// Neighbouring levels differ in hue and in lightness, so that people who cannot distinguish red and green see the
// difference.
QColor levelColor(ErrorLevel level, const Theme& theme) {
  const auto byTheme = [&](const char* dark, const char* light) {
    return QColor(QLatin1String(theme.kind == ThemeKind::Dark ? dark : light));
  };
  switch (level) {
    case ErrorLevel::CannotBeDetermined:
      return byTheme("#e4e8ec", "#212d39");
    case ErrorLevel::Exact:
      return byTheme("#8cf9a4", "#36843a");
    case ErrorLevel::FarWithin:
      return byTheme("#46927e", "#004b35");
    case ErrorLevel::Within:
      return byTheme("#9ad8f4", "#4293b0");
    case ErrorLevel::Harmless:
      return byTheme("#7467a6", "#442276");
    case ErrorLevel::Beyond:
      return byTheme("#f9e27e", "#a88500");
    case ErrorLevel::FarBeyond:
      return byTheme("#dd4f11", "#6f2400");
    case ErrorLevel::NotFinite:
      return byTheme("#fa2d72", "#dd5476");
    case ErrorLevel::Unknown:
      break;
  }
  return theme.disabledText;
}

QString levelSign(ErrorLevel level) {
  switch (level) {
    case ErrorLevel::CannotBeDetermined:
      return QStringLiteral("?");
    case ErrorLevel::Exact:
      return QStringLiteral("=");
    case ErrorLevel::FarWithin:
      return QStringLiteral("≪");
    case ErrorLevel::Within:
      return QStringLiteral("<");
    case ErrorLevel::Harmless:
      return QStringLiteral("~");
    case ErrorLevel::Beyond:
      return QStringLiteral(">");
    case ErrorLevel::FarBeyond:
      return QStringLiteral("≫");
    case ErrorLevel::NotFinite:
      return QStringLiteral("∞");
    case ErrorLevel::Unknown:
      break;
  }
  return {};
}

namespace {

/// Returns a text such as "≫ 0.034": the sign of the level and the number. If the sign is the number itself, only the
/// sign is returned.
QString signedErrorText(ErrorLevel level, const QString& number) {
  const QString sign = levelSign(level);
  return number.isEmpty() || sign == number ? number : sign + QLatin1Char(' ') + number;
}

BoxColor errorColor(const ColorSource& source, Which which) {
  if (isBorderOfNetwork(source.item)) return borderOfNetworkColor(source.theme);
  const ErrorLevel level = levelOf(source.error, which, source.errorBound);
  const QColor color = levelColor(level, source.theme);
  QString badge = signedErrorText(level, shortErrorText(source.error.errors.*which, source.errorBound));
  if (!badge.isEmpty() && source.error.kind == ErrorKind::OfOtherPlan) badge = QStringLiteral("[%1]").arg(badge);
  // The worst level comes first in the legend.
  return {color, badge, Swatch{color, levelSign(level), levelText(level)}, -static_cast<int>(level)};
}

}  // namespace

extern const ColorMode kErrorColors{
    "error", "Local error: max|Δ| of rms", LegendOf::Errors,
    [](const ColorSource& source) { return errorColor(source, &LocalAndCarried::local); }};
extern const ColorMode kCarriedColors{
    "carried", "Carried error: max|Δ| of rms", LegendOf::Errors,
    [](const ColorSource& source) { return errorColor(source, &LocalAndCarried::carried); }};

}  // namespace fusescope
