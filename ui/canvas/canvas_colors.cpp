#include <algorithm>
#include <cmath>

#include "ui/canvas/canvas_painter.h"

namespace fusescope {
namespace {

Swatch precisionOf(const CanvasItem& item, const Theme& theme) {
  return item.mixedPrecision ? mixedPrecisionSwatch(theme) : precisionSwatch(item.precision, theme);
}

std::optional<double> timeOf(const CanvasItem& item, const std::map<std::string, double>& times) {
  if (item.timeKey.isEmpty()) return std::nullopt;
  const auto it = times.find(item.timeKey.toStdString());
  return it == times.end() ? item.predictedMs : std::optional(it->second);
}

void addToLegend(std::vector<Swatch>& legend, Swatch swatch) {
  const bool known =
      std::any_of(legend.begin(), legend.end(), [&](const Swatch& other) { return other.text == swatch.text; });
  if (!known) legend.push_back(std::move(swatch));
}

Swatch segmentSwatch(const CanvasItem& item, const Theme& theme) {
  const QString label = item.segment < 0 ? QString("-") : QString::number(item.segment);
  return {item.segment < 0 ? theme.dimText : segmentColor(item.segment, item.fallback, theme), label,
          item.fallback ? QStringLiteral("fallback") : QStringLiteral("accelerated")};
}

}  // namespace

QString millisecondsText(double ms) {
  if (ms >= 100) return QString("%1 ms").arg(ms, 0, 'f', 0);
  if (ms >= 1) return QString("%1 ms").arg(ms, 0, 'f', 2);
  return QString("%1 \u00b5s").arg(ms * 1000, 0, 'f', ms >= 0.1 ? 0 : 1);
}

CanvasColors colorsOf(const CanvasScene& scene, ColorMode mode, const std::map<std::string, double>& times,
                      const Theme& theme) {
  CanvasColors colors;
  colors.fill.resize(scene.items.size());
  colors.badge.resize(scene.items.size());
  colors.time.resize(scene.items.size());
  for (const CanvasItem& item : scene.items) {
    colors.slowestMs = std::max(colors.slowestMs, timeOf(item, times).value_or(0));
  }
  for (std::size_t i = 0; i < scene.items.size(); ++i) {
    const CanvasItem& item = scene.items[i];
    const std::optional<double> ms = timeOf(item, times);
    const bool fitted = ms && item.predictedByFit && !times.contains(item.timeKey.toStdString());
    if (ms) colors.time[i] = (fitted ? QStringLiteral("~") : QString()) + millisecondsText(*ms);
    colors.anyFitted = colors.anyFitted || fitted;
    colors.anyPrediction = colors.anyPrediction || item.prediction;
    Swatch swatch = precisionOf(item, theme);
    if (item.isPart()) {
      swatch = segmentSwatch(item, theme);
    } else if (mode == ColorMode::Kind) {
      swatch = kindSwatch(item.kindName.toStdString(), theme);
      if (item.kind == ItemKind::Input || item.kind == ItemKind::Output) {
        swatch = {theme.dimText, item.kindName, "input, output"};
      }
    } else if (mode == ColorMode::Segment) {
      swatch = segmentSwatch(item, theme);
    } else if (mode == ColorMode::Time) {
      swatch.color = ms && colors.slowestMs > 0 ? heatColor(*ms / colors.slowestMs, theme) : theme.disabledText;
    }
    colors.fill[i] = swatch.color;
    colors.badge[i] = mode == ColorMode::Segment ? swatch.label : precisionOf(item, theme).label;
    const bool inLegend = !item.isPart() && mode != ColorMode::Time;
    if (inLegend && !(mode == ColorMode::Segment && item.segment < 0)) {
      if (mode == ColorMode::Kind) swatch.label.clear();
      if (mode == ColorMode::Segment)
        swatch.text = QString("segment_%1").arg(item.segment) + (item.fallback ? ", fallback" : "");
      addToLegend(colors.legend, std::move(swatch));
    }
  }
  return colors;
}

}  // namespace fusescope
