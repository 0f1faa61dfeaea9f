#include <algorithm>
#include <array>
#include <cmath>

#include "base/data_type.h"
#include "planning/kinds.h"
#include "ui/theme/theme.h"

namespace fusescope {
namespace {

QColor byTheme(const Theme& theme, const char* dark, const char* light) {
  return QColor(QLatin1String(theme.kind == ThemeKind::Dark ? dark : light));
}

// Returns the "relative luminance" of WCAG 2.1.
double luminance(const QColor& color) {
  const auto linear = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
  return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
}

struct KindColor {
  std::string_view family;  ///< kindFamily() of the kinds that have this colour
  const char *dark, *light, *text;
};

// The hues are those of Okabe and Ito's palette except its blue, which is the colour of the selection. Neighbours
// differ in lightness. The order is that of the legend.
constexpr std::array kKinds = {
    KindColor{"conv", "#45b8c4", "#00798a", "convolution"},
    KindColor{"matmul", "#e69f00", "#a06600", "matrix product"},
    KindColor{"attention", "#cc79a7", "#a94f82", "attention"},
    KindColor{"pointwise", "#2fb68c", "#00795a", "pointwise"},
    KindColor{"softmax", "#e9e27a", "#786e00", "softmax"},
    KindColor{"layer_norm", "#e8804a", "#b8320f", "normalisation"},
    KindColor{"reduce", "#bd92cf", "#65277d", "reduction"},
    KindColor{"pool", "#a3c76d", "#4f7a1c", "pooling"},
    KindColor{"gather", "#c2a878", "#7c6330", "gather, scatter"},
    KindColor{"view", "#8a96a8", "#66717f", "view, copy"},
    KindColor{"other", "#d0d5dc", "#3c4450", "other"},
};

}  // namespace

QColor mixed(const QColor& a, const QColor& b, double shareOfB) {
  const auto blend = [&](double x, double y) { return x + (y - x) * shareOfB; };
  return QColor::fromRgbF(blend(a.redF(), b.redF()), blend(a.greenF(), b.greenF()), blend(a.blueF(), b.blueF()));
}

double contrastRatio(const QColor& a, const QColor& b) {
  const double first = luminance(a), second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

QColor readableOn(const QColor& background) {
  const QColor dark("#0e1116"), light("#ffffff");
  return contrastRatio(dark, background) >= contrastRatio(light, background) ? dark : light;
}

namespace {

Swatch makePrecisionSwatch(DataType type, const Theme& theme) {
  switch (type) {
    case DataType::F64:
      return {byTheme(theme, "#e8643b", "#a02300"), "f64", "float64"};
    case DataType::F32:
      return {byTheme(theme, "#c3cbd6", "#3c4450"), "f32", "float32"};
    case DataType::F16:
      return {byTheme(theme, "#efa412", "#a4680a"), "f16", "float16"};
    case DataType::BF16:
      return {byTheme(theme, "#bc6085", "#b764ad"), "bf16", "bfloat16"};
    case DataType::F8E4M3:
    case DataType::F8E5M2:
    case DataType::F8E4M3FNUZ:
    case DataType::F8E5M2FNUZ:
    case DataType::F8E8M0:
    case DataType::F6E2M3:
    case DataType::F6E3M2:
    case DataType::F4E2M1:
      return {byTheme(theme, "#bd92cf", "#65277d"), "f8", "float8"};
    case DataType::I8:
    case DataType::U8:
    case DataType::I4:
    case DataType::U4:
    case DataType::I2:
    case DataType::U2:
      return {byTheme(theme, "#3ebf8f", "#208462"), bitWidth(type) == 8 ? "int8" : "int4",
              bitWidth(type) == 8 ? "int8" : "int4 and below"};
    case DataType::I64:
    case DataType::U64:
    case DataType::I32:
    case DataType::U32:
    case DataType::I16:
    case DataType::U16:
      return {byTheme(theme, "#8a96a8", "#66717f"), type == DataType::I64 ? "int64" : "int32", "int64, int32"};
    case DataType::Bool:
      return {byTheme(theme, "#dddc74", "#82803b"), "bool", "bool"};
    default:
      return {byTheme(theme, "#9a7b69", "#665044"), "?", "unknown"};
  }
}

}  // namespace

// This is called for every box of a network at once, so that the swatches are computed once.
Swatch precisionSwatch(DataType type, const Theme& theme) {
  static const auto kSwatches = [] {
    std::array<std::vector<Swatch>, 2> swatches;
    for (int of = 0; of <= static_cast<int>(DataType::C128); ++of) {
      swatches[0].push_back(makePrecisionSwatch(static_cast<DataType>(of), Theme::dark()));
      swatches[1].push_back(makePrecisionSwatch(static_cast<DataType>(of), Theme::light()));
    }
    return swatches;
  }();
  return kSwatches[theme.kind == ThemeKind::Dark ? 0 : 1][static_cast<std::size_t>(type)];
}

std::vector<Swatch> precisionLegend(const Theme& theme) {
  std::vector<Swatch> legend;
  for (const DataType type : {DataType::F32, DataType::F16, DataType::BF16, DataType::F64, DataType::F8E4M3,
                              DataType::I8, DataType::I64, DataType::Bool}) {
    legend.push_back(precisionSwatch(type, theme));
  }
  return legend;
}

Swatch kindSwatch(std::string_view kind, const Theme& theme) {
  const auto found = std::ranges::find(kKinds, kindFamily(kind), &KindColor::family);
  const auto entry = found == kKinds.end() ? std::prev(found) : found;
  return {byTheme(theme, entry->dark, entry->light), QString::fromUtf8(kind.data(), int(kind.size())),
          QLatin1String(entry->text)};
}

std::vector<Swatch> kindLegend(const Theme& theme) {
  std::vector<Swatch> legend;
  for (const KindColor& entry : kKinds)
    legend.push_back({byTheme(theme, entry.dark, entry.light),
                      QString::fromUtf8(entry.family.data(), int(entry.family.size())), QLatin1String(entry.text)});
  return legend;
}

/// After all colours have been used, they are used again, this much nearer to the colour of text.
constexpr double kSecondRound = 0.45;

QColor segmentColor(int index, bool fallback, const Theme& theme) {
  if (fallback) return byTheme(theme, "#9aa0a6", "#6b7178");
  constexpr std::array<std::pair<const char*, const char*>, 6> kColors = {{
      {"#45b8c4", "#00798a"},
      {"#2fb68c", "#00795a"},
      {"#e69f00", "#a06600"},
      {"#d8618f", "#a94f82"},
      {"#bd92cf", "#65277d"},
      {"#e8804a", "#b34d00"},
  }};
  const auto place = static_cast<std::size_t>(std::max(index, 0));
  const auto& [dark, light] = kColors[place % kColors.size()];
  const QColor color = byTheme(theme, dark, light);
  return place / kColors.size() % 2 == 0 ? color : mixed(color, theme.text, kSecondRound);
}

QColor heatColor(double fraction, const Theme& theme) {
  // These are samples of matplotlib's "inferno" (CC0), without its ends, so that every step differs from the canvas.
  constexpr std::array<const char*, 6> kInferno = {"#3b2a63", "#6a176e", "#a32c61", "#dd513a", "#f98e09", "#fcde6b"};
  const double clamped = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  const double along = theme.kind == ThemeKind::Dark ? clamped : 1.0 - clamped;
  const double position = along * (kInferno.size() - 1);
  const auto step = std::min(static_cast<std::size_t>(position), kInferno.size() - 2);
  return mixed(QColor(QLatin1String(kInferno[step])), QColor(QLatin1String(kInferno[step + 1])),
               position - static_cast<double>(step));
}

}  // namespace fusescope
