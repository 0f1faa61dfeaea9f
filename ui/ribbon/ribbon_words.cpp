#include "ui/ribbon/ribbon_words.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

const QString kBetween = QStringLiteral(" · ");

QString kernelCountText(std::size_t count) {
  return plural(static_cast<std::int64_t>(count), QStringLiteral("kernel"));
}

QString nameOfKernel(const RibbonLane& lane, std::uint32_t kernel) {
  const FusedNode& fused = lane.fused(kernel);
  const NodeId main = PlanSnapshot::mainNodeOf(fused);
  return main.valid() ? qs(lane.snapshot->graph().node(main).name) : qs(fused.name);
}

QString runWords(const RibbonLane& lane) {
  return lane.title.isEmpty() ? QStringLiteral("no run") : lane.title;
}

QString kernelTypesText(const RibbonLane& lane, const std::vector<std::uint32_t>& kernels) {
  QStringList types;
  for (const std::uint32_t kernel : kernels) {
    const DataType type = lane.fused(kernel).compute;
    const QString text = type == DataType::Undefined ? QStringLiteral("an unknown type") : qs(type);
    if (!types.contains(text)) types << text;
  }
  return types.join(QStringLiteral(" and "));
}

QString errorLine(const RibbonLane& lane, std::uint32_t kernel) {
  if (lane.errors.of.empty()) return {};
  const ShownError error = lane.errors.find(lane.items[kernel].timeKey.toStdString());
  const QString text = errorPairText(error, &LocalAndCarried::local, lane.errors.bound);
  if (text.isEmpty()) return {};
  return QStringLiteral("local error %1, %2")
      .arg(text, levelText(levelOf(error, &LocalAndCarried::local, lane.errors.bound)));
}

QStringList kernelLines(const RibbonPicture& picture, std::size_t l, const RibbonBar& bar) {
  const RibbonLane& lane = picture.lanes[l];
  const auto kernel = static_cast<std::uint32_t>(bar.what);
  const ShownTime& time = lane.times[kernel];
  QStringList lines{nameOfKernel(lane, kernel)};
  const QString block = blockTitleOf(lane, kernel);
  lines << (block.isEmpty() ? QString() : block + kBetween) + lane.items[kernel].title + kBetween +
               plural(lane.items[kernel].nodes, QStringLiteral("node"));
  QString said = time.kind == TimeKind::Unknown
                     ? QStringLiteral("its time is not known")
                     : timeText(time) + QStringLiteral(", ") + kindText(time.kind, runWords(lane));
  if (const QString share = shareText(lane, time.ms); time.known() && !share.isEmpty()) said += kBetween + share;
  lines << said;
  if (const QString error = errorLine(lane, kernel); !error.isEmpty()) lines << error;
  if (lane.items[kernel].fallback)
    lines << QStringLiteral("fallback: it runs on the reference, in the model's own types");
  return lines;
}

QString timesOf(const RibbonPicture& picture, std::size_t l, std::uint32_t first, std::uint32_t last) {
  const double ms = picture.msOf(l, first, last);
  const std::uint32_t untimed = picture.untimedOf(l, first, last);
  if (untimed == last - first) return QStringLiteral("no time is known");
  const QString text = msText(ms);
  return untimed == 0 ? text : QStringLiteral("%1 and %2 without a time").arg(text, QString::number(untimed));
}

QStringList rowLines(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar) {
  QStringList lines{rowLabel(picture, row, bar)};
  for (std::size_t l = 0; l < picture.lanes.size(); ++l) {
    const auto [first, last] = picture.barsOfGroups(l, bar.first, bar.last);
    QString line = kernelCountText(last - first) + kBetween + timesOf(picture, l, first, last);
    const QString share = shareText(picture.lanes[l], picture.msOf(l, first, last));
    if (!share.isEmpty()) line += kBetween + share;
    lines << (picture.lanes.size() > 1 ? runWords(picture.lanes[l]) + QStringLiteral(": ") + line : line);
  }
  return lines;
}

QStringList barLines(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar) {
  if (row.kind() != RibbonRow::Kind::Kernels) return rowLines(picture, row, bar);
  QStringList lines = kernelLines(picture, row.of(), bar);
  for (std::size_t upper : {row.of() - 1, row.of()}) {  // compares with the lane above and with the lane below
    if (upper >= picture.differences.size()) continue;
    const QString difference = differenceTooltip(picture, upper, bar.first);
    if (!difference.isEmpty()) lines << difference;
  }
  return lines;
}

QString runWord(const RibbonLane& lane) {
  return lane.run.empty() ? lane.title : QStringLiteral("run %1").arg(qs(lane.run));
}

/// Describes the widths of bars if they are not the requested times.
QString basisText(const RibbonPicture& picture) {
  switch (picture.basis) {
    case WidthBasis::Time:
      return {};
    case WidthBasis::Work:
      return QStringLiteral("no time: width by work");
    case WidthBasis::Bytes:
      return QStringLiteral("width by bytes");
    case WidthBasis::Even:
      break;
  }
  return picture.wanted == RibbonWidth::Even ? QStringLiteral("even widths")
                                             : QStringLiteral("little known: even widths");
}

}  // namespace

QString blockTitleOf(const RibbonLane& lane, std::uint32_t kernel) {
  const ModuleTree& tree = *lane.snapshot->modules;
  const NodeId main = PlanSnapshot::mainNodeOf(lane.fused(kernel));
  if (!main.valid() || main.index >= tree.moduleOf.size() || tree.moduleOf[main.index] < 0) return {};
  return qs(tree.modules[static_cast<std::size_t>(tree.moduleOf[main.index])].title);
}

QStringList barLabels(const RibbonLane& lane, std::uint32_t kernel) {
  const QString op = lane.items[kernel].title;
  const ShownTime& time = lane.times[kernel];
  const QString block = blockTitleOf(lane, kernel);
  QStringList labels;
  if (!time.known()) return block.isEmpty() ? QStringList{op} : QStringList{block + kBetween + op, op};
  const QString ms = timeText(time);
  if (!block.isEmpty()) labels << block + kBetween + op + kBetween + ms;
  return labels << op + kBetween + ms << ms << op;
}

QString gatheredLabel(const RibbonPicture& picture, std::size_t lane, std::uint32_t first, std::uint32_t last) {
  return kernelCountText(last - first) + kBetween + timesOf(picture, lane, first, last);
}

QString rowLabel(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar) {
  const PlanSnapshot& snapshot = *picture.shown().snapshot;
  const auto place = static_cast<std::size_t>(bar.what);
  if (row.kind() == RibbonRow::Kind::Blocks) return qs(snapshot.modules->modules[place].name);
  const Segment& segment = snapshot.cover->segments[place];
  return qs(segment.name) + (segment.kind == SegmentKind::Fallback ? QStringLiteral(", fallback") : QString());
}

QString nameOfRun(const RibbonLane& lane) {
  const QString name = lane.title.section(QStringLiteral(", "), 1);
  return lane.ofOtherPlan ? name + QStringLiteral(", not the plan on screen") : name;
}

QString shareText(const RibbonLane& lane, double ms) {
  if (lane.kernelMs <= 0 || ms <= 0) return {};
  const double percent = 100 * ms / lane.kernelMs;
  return QStringLiteral("%1 % of all kernels%2")
      .arg(QString::number(percent, 'f', percent < 10 ? 1 : 0),
           lane.untimed > 0 ? QStringLiteral(" with a time") : QString());
}

QString barTooltip(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar) {
  return barLines(picture, row, bar).join(QLatin1Char('\n'));
}

QString barDescription(const RibbonPicture& picture, const RibbonRow& row, const RibbonBar& bar) {
  return barLines(picture, row, bar).join(QStringLiteral("; "));
}

QString gatheredTooltip(const RibbonPicture& picture, std::size_t lane, std::uint32_t first, std::uint32_t last) {
  QStringList lines{gatheredLabel(picture, lane, first, last)};
  const auto& bars = picture.layout.lanes[lane].bars();
  const auto name = [&](std::uint32_t bar) {
    return nameOfKernel(picture.lanes[lane], static_cast<std::uint32_t>(bars[bar].what));
  };
  lines << QStringLiteral("from %1 to %2").arg(name(first), name(last - 1));
  if (const QString share = shareText(picture.lanes[lane], picture.msOf(lane, first, last)); !share.isEmpty())
    lines << share;
  return (lines << QStringLiteral("Too narrow to be seen one by one: zoom in with the wheel or a drag."))
      .join(QLatin1Char('\n'));
}

QString differenceTooltip(const RibbonPicture& picture, std::size_t upper, std::uint32_t group) {
  const GroupDifference& difference = picture.differences[upper][group];
  const LaneGroup& of = picture.layout.groups[group];
  const RibbonLane &a = picture.lanes[upper], &b = picture.lanes[upper + 1];
  QStringList parts;
  if (difference.fusion)
    parts << QStringLiteral("%1 in %2, %3 in %4")
                 .arg(kernelCountText(of.kernels[upper].size()), runWords(a),
                      kernelCountText(of.kernels[upper + 1].size()), runWords(b));
  if (difference.types)
    parts << QStringLiteral("%1 in %2, %3 in %4")
                 .arg(kernelTypesText(a, of.kernels[upper]), runWords(a), kernelTypesText(b, of.kernels[upper + 1]),
                      runWords(b));
  if (difference.deltaMs && *difference.deltaMs != 0)
    parts << QStringLiteral("%1 %2 in %3")
                 .arg(msText(std::abs(*difference.deltaMs)),
                      *difference.deltaMs > 0 ? QStringLiteral("slower") : QStringLiteral("faster"), runWords(b));
  return parts.join(kBetween);
}

namespace {

/// Adds the total of a plan that no run has timed: the sum of the known times, which is a lower bound if some kernels
/// have none.
void addPredicted(LaneTotal& total, const RibbonLane& lane) {
  const QString kernels = kernelCountText(lane.size());
  // Views are known to take no time. A lane of views only has no total.
  const bool any = lane.size() > 0 && (lane.kernelMs > 0 || lane.untimed == 0);
  const ShownTime sum = sumOf(lane.times);
  const bool isOfRun = sum.kind == TimeKind::Measured || sum.kind == TimeKind::OfOtherPlan;
  total.time = any ? timeText(sum) : QStringLiteral("no time");
  total.whose = !any                             ? QStringLiteral("not measured")
                : isOfRun                        ? QStringLiteral("its kernels, ") + runWord(lane)
                : sum.kind == TimeKind::Reported ? QStringLiteral("reported, not measured")
                                                 : QStringLiteral("predicted, not measured");
  if (any && lane.untimed > 0 && total.more.isEmpty())
    total.more = QStringLiteral("%1 of %2 unknown").arg(lane.untimed).arg(lane.size());
  total.tooltip =
      any && isOfRun ? QStringLiteral("%1 as %2 has them: the whole was not timed.").arg(kernels, runWords(lane))
      : any && sum.kind == TimeKind::Reported
          ? QStringLiteral("%1 as the compiler reported them; no run of this plan was timed.").arg(kernels)
      : any
          ? QStringLiteral("%1 as they are predicted; no run of this plan was timed.").arg(kernels)
          : QStringLiteral("%1. No run of this plan was timed, and none of their times can be predicted.").arg(kernels);
  if (any && lane.untimed > 0)
    total.tooltip +=
        QStringLiteral("\n%1 of them have no time: all together take this time or more.").arg(lane.untimed);
}

void addUnseen(LaneTotal& total, const RibbonPicture& picture, std::size_t l) {
  const std::size_t unseen = l < picture.unseen.size() ? picture.unseen[l] : 0;
  if (unseen == 0) return;
  total.unseen = QStringLiteral("%1 of %2 have no width").arg(unseen).arg(picture.lanes[l].size());
  total.tooltip +=
      QStringLiteral("\n%1 at the minimum width: neither their times nor their work are known%2.")
          .arg(unseen == 1 ? QStringLiteral("1 kernel is") : QStringLiteral("%1 kernels are").arg(unseen),
               picture.wanted == RibbonWidth::Even ? QString() : QStringLiteral("; even widths show all alike"));
}

}  // namespace

LaneTotal laneTotal(const RibbonPicture& picture, std::size_t l) {
  const RibbonLane& lane = picture.lanes[l];
  LaneTotal total{.more = basisText(picture)};
  if (lane.isMeasured()) {
    const QString time = msText(*lane.latencyMs);
    total.time = lane.ofOtherPlan ? QStringLiteral("[%1]").arg(time) : time;
    total.whose = lane.ofOtherPlan ? runWord(lane) + QStringLiteral(", of another plan")
                                   : QStringLiteral("measured, ") + runWord(lane);
    if (total.more.isEmpty() && !lane.isQuiet) total.more = QStringLiteral("the machine was busy");
    total.tooltip =
        QStringLiteral("%1: the median of one inference.\n%2 measured one by one come to %3%4.")
            .arg(time + QStringLiteral(", ") + runWords(lane), kernelCountText(lane.size()), msText(lane.kernelMs),
                 lane.untimed > 0 ? QStringLiteral(", %1 of them without a time").arg(lane.untimed) : QString());
    if (lane.ofOtherPlan)
      total.tooltip +=
          QStringLiteral("\nThe plan on screen is not the plan of this run: grey numbers are not its times.");
  } else {
    addPredicted(total, lane);
  }
  addUnseen(total, picture, l);
  return total;
}

TotalDelta totalDelta(const RibbonPicture& picture, std::size_t upper, const std::optional<Runs::InTurns>& inTurns) {
  const auto &a = picture.lanes[upper].latencyMs, &b = picture.lanes[upper + 1].latencyMs;
  const auto percent = [](double ratio) {
    return QStringLiteral("%1%2 %").arg(ratio < 1 ? QStringLiteral("−") : QStringLiteral("+"),
                                        QString::number(100 * std::abs(ratio - 1), 'f', 1));
  };
  QString alone;
  if (a && b && *a > 0)
    alone = QStringLiteral("Each timed by itself: %1 and %2, %3 (%4).")
                .arg(msText(*a), msText(*b), signedMsText(*b - *a), percent(*b / *a));
  if (!inTurns) {
    if (alone.isEmpty()) return {};
    return {
        .text = percent(*b / *a) + QStringLiteral(", not in turns"),
        .tooltip = alone + QStringLiteral("\nThe two were not timed in turns, so that a machine that was busier for "
                                          "one of them may make this difference. Compare times them in turns.")};
  }
  const QString turns = plural(inTurns->turns, QStringLiteral("turn"));
  const QString range =
      QStringLiteral("%1 to %2 over %3").arg(percent(inTurns->range.least), percent(inTurns->range.most), turns);
  const QString both = alone.isEmpty() ? QString() : QStringLiteral("\n") + alone;
  if (!inTurns->range.isSignificant(1))
    return {.text = QStringLiteral("no measurable difference when timed in turns"),
            .tooltip = QStringLiteral("Timed in turns, they have no measurable difference: the lower one takes %1.%2")
                           .arg(range, both)};
  return {
      .text = percent(inTurns->ratio) + QStringLiteral(" in turns"),
      .tooltip =
          QStringLiteral("Timed in turns, the lower one takes %1 (%2).%3").arg(percent(inTurns->ratio), range, both),
      .isSlower = inTurns->ratio > 1};
}

}  // namespace fusescope
