#include <algorithm>
#include <array>
#include <cmath>

#include "ui/canvas/color_mode.h"

namespace fusescope {

namespace {

constexpr int kSteps = 5;
constexpr std::array<const char*, kSteps> kDarkSteps = {"#fdf0a8", "#f6b93b", "#e0713a", "#b9508c", "#7d63c0"};
constexpr std::array<const char*, kSteps> kLightSteps = {"#1f1238", "#5f1a6e", "#a12f5c", "#c2561f", "#3c8f86"};

/// Returns how often the largest amount must be halved to reach this amount. The last step contains everything that is
/// smaller.
int stepOf(double amount, double largest) {
  if (amount <= 0) return kSteps - 1;
  return std::clamp(static_cast<int>(std::floor(std::log2(largest / amount) + 1e-9)), 0, kSteps - 1);
}

}  // namespace

std::vector<QColor> scaleColors(const Theme& theme) {
  std::vector<QColor> colors;
  for (const char* color : theme.kind == ThemeKind::Dark ? kDarkSteps : kLightSteps)
    colors.emplace_back(QLatin1String(color));
  return colors;
}

BoxColor scaleColor(std::optional<double> amount, double largest, const Theme& theme, QString (*text)(double amount)) {
  if (!amount || largest <= 0) {
    const QColor color = theme.disabledText;
    return {color, QString(), Swatch{color, QString(), QStringLiteral("not known")}, kSteps};
  }
  const int step = stepOf(*amount, largest);
  const QColor color = scaleColors(theme)[static_cast<std::size_t>(step)];
  const double top = largest / std::pow(2, step);
  const QString words = step == kSteps - 1 ? QStringLiteral("below %1").arg(text(top))
                                           : QStringLiteral("%1 … %2").arg(text(top / 2), text(top));
  return {color, QString(), Swatch{color, QString::number(kSteps - step), words}, step,
          QStringLiteral("step %1").arg(kSteps - step)};
}

bool isBorderOfNetwork(const CanvasItem& item) {
  return item.kind == ItemKind::Input || item.kind == ItemKind::Output;
}

BoxColor borderOfNetworkColor(const Theme& theme) {
  return {theme.dimText, QString(), Swatch{theme.dimText, {}, QStringLiteral("input, output")}, 100};
}

}  // namespace fusescope
