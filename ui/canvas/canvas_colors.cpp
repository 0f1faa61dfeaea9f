#include <algorithm>

#include "ui/canvas/canvas_painter.h"

namespace fusescope {
namespace {

ShownTime timeOf(const CanvasItem& item, const ShownTimes& times) {
  if (item.timeKey.isEmpty()) return {};
  const std::string handle = times.empty() ? std::string() : item.timeKey.toStdString();
  return shownTime(times, handle, item.predictedMs, item.predictedByFit);
}

void addToLegend(std::vector<Swatch>& legend, const Swatch& swatch) {
  const bool known =
      std::any_of(legend.begin(), legend.end(), [&](const Swatch& other) { return other.text == swatch.text; });
  if (!known) legend.push_back(swatch);
}

}  // namespace

CanvasColors colorsOf(const CanvasScene& scene, const ColorMode& mode, const ShownTimes& times, const Theme& theme) {
  const std::size_t count = scene.items.size();
  CanvasColors colors;
  colors.fill.resize(count);
  colors.badge.resize(count);
  colors.time.reserve(count);
  for (const CanvasItem& item : scene.items) {
    colors.time.push_back(timeOf(item, times));
    colors.slowestMs = std::max(colors.slowestMs, colors.time.back().ms);
    colors.anyPrediction = colors.anyPrediction || item.prediction;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const CanvasItem& item = scene.items[i];
    const ShownTime& time = colors.time[i];
    if (time.kind != TimeKind::Unknown) colors.timeKinds.insert(time.kind);
    const BoxColor color = mode.colorOf({item, time, colors.slowestMs, theme});
    colors.fill[i] = item.isPart() ? segmentSwatch(item, theme).color : color.fill;
    colors.badge[i] = color.badge.isEmpty() ? itemPrecisionSwatch(item, theme).label : color.badge;
    if (color.legend && !item.isPart()) addToLegend(colors.legend, *color.legend);
  }
  return colors;
}

}  // namespace fusescope
