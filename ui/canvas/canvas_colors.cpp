#include <algorithm>
#include <cmath>

#include "ui/canvas/canvas_painter.h"

namespace fusescope {
namespace {

Swatch precisionOf(const CanvasItem& item, const Theme& theme) {
  return item.mixedPrecision ? mixedPrecisionSwatch(theme) : precisionSwatch(item.precision, theme);
}

ShownTime timeOf(const CanvasItem& item, const ShownTimes& times) {
  if (item.timeKey.isEmpty()) return {};
  return shownTime(times, item.timeKey.toStdString(), item.predictedMs, item.predictedByFit);
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

CanvasColors colorsOf(const CanvasScene& scene, ColorMode mode, const ShownTimes& times, const Theme& theme) {
  CanvasColors colors;
  colors.fill.resize(scene.items.size());
  colors.badge.resize(scene.items.size());
  colors.time.resize(scene.items.size());
  colors.timeKind.resize(scene.items.size(), TimeKind::Unknown);
  for (const CanvasItem& item : scene.items) {
    colors.slowestMs = std::max(colors.slowestMs, timeOf(item, times).ms);
  }
  for (std::size_t i = 0; i < scene.items.size(); ++i) {
    const CanvasItem& item = scene.items[i];
    const ShownTime time = timeOf(item, times);
    colors.timeKind[i] = time.kind;
    if (time.kind != TimeKind::Unknown) {
      colors.time[i] = timeText(time);
      colors.timeKinds.insert(time.kind);
    }
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
      swatch.color = time.known() && colors.slowestMs > 0 ? heatColor(time.ms / colors.slowestMs, theme) : theme.disabledText;
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
