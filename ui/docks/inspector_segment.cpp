#include "ir/graph.h"
#include "ui/docks/inspector_html.h"
#include "ui/docks/inspector_text.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

namespace {

QString bordersText(const PlanSnapshot& snapshot, const Segment& segment, const Theme& theme) {
  const auto& borders = snapshot.borders[segment.id.index];
  QString text;
  for (const auto direction : {SegmentBorder::Direction::In, SegmentBorder::Direction::Out}) {
    Rows rows(theme);
    std::size_t count = 0;
    for (const SegmentBorder& border : borders) {
      if (border.direction != direction || ++count > kMostListed) continue;
      const PlannedCast* cast = border.conversion;
      const QString other = border.other.valid() ? nodeLink(snapshot.cover->segments[border.other.index].name)
                                                 : QStringLiteral("the network");
      QString what = typeBadge(border.type, theme) + QStringLiteral(" %1 · ").arg(bytesText(border.bytes)) +
                     (direction == SegmentBorder::Direction::In ? QStringLiteral("from ") : QStringLiteral("to ")) +
                     other;
      if (cast != nullptr)
        what += QStringLiteral(" · <span style='color:%1'>converted %2 → %3, %4 moved</span>")
                    .arg(theme.warning.name(), qs(cast->from), qs(cast->to), bytesText(cast->bytes));
      rows.add(nodeLink(snapshot.graph().value(border.value).name), what);
    }
    if (count > kMostListed) rows.add(QStringLiteral("…"), QStringLiteral("and %1 more").arg(count - kMostListed));
    if (count == 0) continue;
    const bool in = direction == SegmentBorder::Direction::In;
    text += heading(in ? QStringLiteral("Enters the segment") : QStringLiteral("Leaves the segment"), theme);
    text += rows.text();
  }
  return text;
}

/// Returns why the nodes are in the segment, and what its kernels take.
QString reasonsText(const SegmentFacts& facts, const SegmentTime& time, const Theme& theme) {
  Rows rows(theme);
  for (const SegmentReason& reason : facts.reasons)
    rows.add(plural(reason.nodes, "node"), QString::fromStdString(reason.message).toHtmlEscaped());
  QString text = heading(QStringLiteral("Why these nodes"), theme) + rows.text();
  if (!time.ms) return text;
  const QString unknown =
      time.unknown == 0 ? QString()
                        : QStringLiteral(", without %1 whose time is not known").arg(plural(time.unknown, "kernel"));
  return text + heading(QStringLiteral("Time of its kernels"), theme) +
         QStringLiteral("<p style='margin:2px 0'>%1, %2%3</p>")
             .arg(msText(time.ms), time.isMeasured ? QStringLiteral("timed") : QStringLiteral("predicted"), unknown);
}

}  // namespace

QString segmentFactsText(const PlanSnapshot& snapshot, const Segment& segment, const SegmentTime& time,
                         const Theme& theme) {
  return reasonsText(snapshot.segmentFacts[segment.id.index], time, theme) + bordersText(snapshot, segment, theme);
}

QString segmentText(const PlanSnapshot& snapshot, const Segment& segment, const SegmentTime& time, const Theme& theme) {
  QString text = title(html(segment.name),
                       QStringLiteral("%1 segment of %2 on %3")
                           .arg(qs(name(segment.kind)), plural(static_cast<std::int64_t>(segment.nodes.size()), "node"),
                                runsOn(*snapshot.cover, segment).toHtmlEscaped()),
                       theme);
  text += segmentFactsText(snapshot, segment, time, theme);
  const auto& about = snapshot.decisionsAbout(Subject::segment(segment.name));
  if (about.empty()) return text;
  return text + heading(QStringLiteral("Why"), theme) + decisionsText(snapshot, about, theme);
}

}  // namespace fusescope
