#include <algorithm>

#include "ui/canvas/canvas_painter.h"
#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

ShownTime timeOf(const CanvasItem& item, const ShownTimes& times) {
  if (item.timeKey.isEmpty()) return {};
  const std::string handle = times.empty() ? std::string() : item.timeKey.toStdString();
  return shownTime(times, handle, item.predictedMs, item.predictedByFit);
}

ShownError errorOf(const CanvasItem& item, const ShownErrors& errors) {
  return item.timeKey.isEmpty() || errors.of.empty() ? ShownError() : errors.find(item.timeKey.toStdString());
}

/// The lines of the legend, each once.
class LegendLines {
 public:
  void add(const BoxColor& color) {
    const bool known =
        std::ranges::any_of(m_lines, [&](const auto& line) { return line.second.text == color.legend->text; });
    if (!known) m_lines.emplace_back(color.legendPlace, *color.legend);
  }
  std::vector<Swatch> inOrder() {
    std::ranges::stable_sort(m_lines, {}, [](const auto& line) { return line.first; });
    std::vector<Swatch> swatches;
    for (auto& [place, swatch] : m_lines) swatches.push_back(std::move(swatch));
    return swatches;
  }

 private:
  std::vector<std::pair<int, Swatch>> m_lines;  ///< with their places
};

/// Which run measured times, and what the signs beside those mean, of those that occur.
QStringList timeNotes(const std::set<TimeKind>& kinds, const QString& run) {
  QStringList notes;
  if (kinds.contains(TimeKind::Measured)) notes << QStringLiteral("measured in %1").arg(run);
  if (kinds.contains(TimeKind::OfOtherPlan)) notes << QStringLiteral("[ ] %1, of another plan").arg(run);
  if (kinds.contains(TimeKind::Predicted)) notes << QStringLiteral("\u2248 predicted, measured before");
  if (kinds.contains(TimeKind::Fitted)) notes << QStringLiteral("~ fitted, not measured");
  if (kinds.contains(TimeKind::Emulated)) notes << QStringLiteral("emulated: has no time");
  return notes;
}

/// What errors were made with, and what a sign beside them means.
QStringList errorNotes(const ShownErrors& errors, bool ofOtherPlan) {
  if (errors.made.isEmpty()) return {QStringLiteral("not evaluated: Shift+F8")};
  QStringList notes{(errors.random ? QStringLiteral("⚠ ") : QString()) + errors.madeBriefly};
  notes << QStringLiteral("allowed: %1 of rms").arg(errorText(errors.bound));
  const auto ofCodes = [](const auto& known) { return known.second.errors.ofCodes(); };
  if (std::ranges::any_of(errors.of, ofCodes)) notes << QStringLiteral("codes: relative L2");
  if (ofOtherPlan) notes << QStringLiteral("[ ] of a run of another plan");
  return notes;
}

}  // namespace

CanvasColors colorsOf(const CanvasScene& scene, const ColorMode& mode, const CanvasNumbers& numbers,
                      const Theme& theme) {
  const std::size_t count = scene.items.size();
  CanvasColors colors;
  colors.fill.resize(count);
  colors.badge.resize(count);
  colors.badgeFill.resize(count);
  colors.time.reserve(count);
  for (const CanvasItem& item : scene.items) {
    colors.time.push_back(timeOf(item, numbers.times));
    colors.slowestMs = std::max(colors.slowestMs, colors.time.back().ms);
    colors.anyPrediction = colors.anyPrediction || item.prediction;
  }
  LegendLines legend;
  bool otherErrors = false;
  for (std::size_t i = 0; i < count; ++i) {
    const CanvasItem& item = scene.items[i];
    const ShownError error = errorOf(item, numbers.errors);
    otherErrors = otherErrors || error.kind == ErrorKind::OfOtherPlan;
    const ShownTime& time = colors.time[i];
    if (time.kind != TimeKind::Unknown) colors.timeKinds.insert(time.kind);
    const BoxColor color = mode.colorOf({item, time, colors.slowestMs, error, numbers.errors.bound, theme});
    colors.fill[i] = item.calculates() ? color.fill : segmentSwatch(item, theme).color;
    const Swatch precision = itemPrecisionSwatch(item, theme);
    colors.badge[i] = color.badge.isEmpty() ? precision.label : color.badge;
    colors.badgeFill[i] = color.badge.isEmpty() ? precision.color : color.fill;
    if (color.legend && item.calculates()) legend.add(color);
  }
  colors.legend = legend.inOrder();
  if (mode.legend == LegendOf::Errors) colors.notes = errorNotes(numbers.errors, otherErrors);
  if (mode.legend == LegendOf::Times) colors.notes = timeNotes(colors.timeKinds, numbers.times.madeBriefly);
  return colors;
}

}  // namespace fusescope
