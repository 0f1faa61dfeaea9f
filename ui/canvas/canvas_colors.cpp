#include "ui/canvas/canvas_colors.h"

#include <algorithm>

#include "ui/document/qt_text.h"

namespace fusescope {
namespace {

/// Returns the time of an item. The time of a block is the sum of its kernels' times.
ShownTime timeOf(const CanvasItem& item, const ShownTimes& times) {
  if (item.block != nullptr) {
    std::vector<ShownTime> parts;
    for (const int kernel : item.block->kernels) {
      const auto place = std::size_t(kernel);
      const ShownTime& untimed = item.block->of->untimed[place];
      parts.push_back(times.empty() ? untimed
                                    : shownTime(times, item.block->of->handles[place].toStdString(), untimed));
    }
    return sumOf(parts);
  }
  if (item.timeKey.isEmpty()) return {};
  const std::string handle = times.empty() ? std::string() : item.timeKey.toStdString();
  return shownTime(times, handle, item.untimed);
}

/// Returns the worst local error and the worst carried error of the kernels in a block, which may belong to different
/// kernels.
ShownError worstOf(const BlockFacts& block, const ShownErrors& errors) {
  ShownError worst;
  const auto take = [&](const ShownError& error, Which which) {
    ShownError soFar = worst;
    if (levelOf(error, which, errors.bound) <= levelOf(soFar, which, errors.bound)) return;
    worst.errors.*which = error.errors.*which;
    worst.reachesOutput = error.reachesOutput;
  };
  for (const int kernel : block.kernels) {
    const ShownError error = errors.find(block.of->handles[std::size_t(kernel)].toStdString());
    if (error.kind == ErrorKind::Unknown) continue;
    if (worst.kind == ErrorKind::Unknown) {
      worst = error;
      continue;
    }
    worst.kind = std::max(worst.kind, error.kind);
    take(error, &LocalAndCarried::local);
    take(error, &LocalAndCarried::carried);
  }
  return worst;
}

ShownError errorOf(const CanvasItem& item, const ShownErrors& errors) {
  if (item.block != nullptr && !errors.of.empty()) return worstOf(*item.block, errors);
  return item.timeKey.isEmpty() || errors.of.empty() ? ShownError() : errors.find(item.timeKey.toStdString());
}

/// Describes the run that measured the times, and the meaning of the signs that occur beside times.
QStringList timeNotes(const std::set<TimeKind>& kinds, const QString& run) {
  QStringList notes;
  if (kinds.contains(TimeKind::Measured)) notes << QStringLiteral("measured in %1").arg(run);
  if (kinds.contains(TimeKind::OfOtherPlan)) notes << QStringLiteral("[ ] %1, of another plan").arg(run);
  if (kinds.contains(TimeKind::Predicted)) notes << QStringLiteral("\u2248 predicted, measured before");
  if (kinds.contains(TimeKind::Fitted)) notes << QStringLiteral("~ fitted, not measured");
  if (kinds.contains(TimeKind::Reported)) notes << QStringLiteral("“ ” as the compiler reported it");
  if (kinds.contains(TimeKind::Emulated)) notes << QStringLiteral("emulated: there is no time");
  return notes;
}

/// Describes how the errors were measured, and what a sign beside them means.
QStringList errorNotes(const ShownErrors& errors, bool ofOtherPlan) {
  if (errors.made.isEmpty()) return {QStringLiteral("not evaluated: Shift+F8")};
  QStringList notes{(errors.random ? QStringLiteral("⚠ ") : QString()) + errors.madeBriefly};
  notes << QStringLiteral("allowed: %1 of rms").arg(errorText(errors.bound));
  const auto ofCodes = [](const auto& known) { return known.second.errors.ofCodes(); };
  if (std::ranges::any_of(errors.of, ofCodes)) notes << QStringLiteral("codes: relative L2");
  if (ofOtherPlan) notes << QStringLiteral("[ ] from a run of another plan");
  return notes;
}

}  // namespace

CanvasColors::CanvasColors(std::shared_ptr<const CanvasScene> scene, const ColorMode& mode, CanvasNumbers numbers,
                           const Theme& theme)
    : m_scene(std::move(scene)), m_mode(&mode), m_numbers(std::move(numbers)), m_theme(theme) {
  m_time.reserve(m_scene->items.size());
  for (const CanvasItem& item : m_scene->items) {
    const ShownTime& time = m_time.emplace_back(timeOf(item, m_numbers.times));
    if (m_mode->amountOf != nullptr && (item.block == nullptr || item.isBox()))
      largest = std::max(largest, m_mode->amountOf(item, time).value_or(0));
    anyPrediction = anyPrediction || item.prediction;
    anyDerived = anyDerived || (item.isUncertain() && !item.isGuessed());
    anyGuessed = anyGuessed || item.isGuessed();
    anyWithoutKernel = anyWithoutKernel || !item.fate.isEmpty();
    if (time.kind != TimeKind::Unknown) timeKinds.insert(time.kind);
  }
  for (const auto& [handle, time] : m_numbers.times)  // the holder's time includes the times of its bodies
    if (time.kind == TimeKind::Measured && handle.starts_with("fused:")) allMs += time.ms;
  m_color.resize(m_time.size());
  m_isLookedUp.resize(m_time.size());
  findLegend();
}

void CanvasColors::setTheme(const Theme& theme) {
  m_theme = theme;
  m_isLookedUp.assign(m_isLookedUp.size(), false);
  m_lookedUp = 0;
}

BoxColor CanvasColors::boxColor(std::size_t item) const {
  const CanvasItem& of = m_scene->items[item];
  // An item without a kernel is in none of the classes that the colour mode distinguishes.
  if (!of.fate.isEmpty()) return {m_theme.dimText, of.fate, {}};
  return m_mode->colorOf({of, m_time[item], largest, errorOf(of, m_numbers.errors), m_numbers.errors.bound, m_theme});
}

QString CanvasColors::markWords(std::size_t item, Mark mark) const {
  const QString text = markText(mark);
  if (mark == Mark::Slow)
    return QStringLiteral("%1 It takes %2 % in %3.")
        .arg(text, QString::number(100 * m_time[item].ms / allMs, 'f', 0), m_numbers.times.madeBriefly);
  if (mark == Mark::Wrong) return roleText(errorOf(m_scene->items[item], m_numbers.errors), m_numbers.errors.bound);
  return text;
}

namespace {

QString legendKeyOf(const BoxColor& color) {
  return color.key.isEmpty() && color.legend ? color.legend->text : color.key;
}

}  // namespace

/// Finds the lines of the legend, without duplicates, ordered by their place. Lines of equal place remain in the order
/// in which they occur.
void CanvasColors::findLegend() {
  std::vector<std::pair<int, OfLegend>> lines;  // by place
  QHash<QString, std::size_t> known;            // the index in `lines`
  bool otherErrors = false;
  for (std::size_t i = 0; i < m_time.size(); ++i) {
    const CanvasItem& item = m_scene->items[i];
    otherErrors = otherErrors || errorOf(item, m_numbers.errors).kind == ErrorKind::OfOtherPlan;
    if (!item.calculates()) continue;
    const BoxColor color = boxColor(i);
    if (!color.legend) continue;
    const auto line = known.find(legendKeyOf(color));
    if (line != known.end()) {
      lines[*line].second.boxes += item.isBox();
    } else {
      known.insert(legendKeyOf(color), lines.size());
      lines.emplace_back(color.legendPlace, OfLegend{i, item.isBox()});
    }
  }
  std::ranges::stable_sort(lines, {}, &std::pair<int, OfLegend>::first);
  for (const auto& [place, line] : lines) m_ofLegend.push_back(line);
  if (*m_mode->note != '\0') notes << QString::fromUtf8(m_mode->note);
  if (m_mode->legend == LegendOf::Errors) notes = errorNotes(m_numbers.errors, otherErrors);
  if (m_mode->legend == LegendOf::Times) notes = timeNotes(timeKinds, m_numbers.times.madeBriefly);
}

std::vector<LegendLine> CanvasColors::legend() const {
  std::vector<LegendLine> lines;
  for (const OfLegend& line : m_ofLegend) {
    const BoxColor color = boxColor(line.item);
    lines.push_back({*color.legend, legendKeyOf(color), line.boxes});
  }
  return lines;
}

const ItemColor& CanvasColors::of(std::size_t item) const {
  if (m_isLookedUp[item]) return m_color[item];
  m_isLookedUp[item] = true;
  ++m_lookedUp;
  const CanvasItem& of = m_scene->items[item];
  const BoxColor color = boxColor(item);
  const Swatch precision = precisionSwatch(of.precision, m_theme);
  const ShownErrors& errors = m_numbers.errors;
  m_color[item] = {.fill = of.calculates() ? color.fill : segmentSwatch(of, m_theme).color,
                   .badge = color.badge.isEmpty() ? precision.label : color.badge,
                   .badgeFill = color.badge.isEmpty() ? precision.color : color.fill,
                   .stripe = color.stripe,
                   .key = of.calculates() ? legendKeyOf(color) : QString(),
                   .marks = marksOf(of, m_time[item], allMs, errorOf(of, errors), errors.bound)};
  return m_color[item];
}

}  // namespace fusescope
