#include "ui/docks/serving_html.h"

#include <algorithm>

#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr std::size_t kMostRows = 40;

QString extentsText(const RunServed& served) {
  QStringList texts;
  for (const auto& [input, dims] : served.extents)
    texts << QStringLiteral("%1&nbsp;%2").arg(html(input), html(toText(dims)));
  return texts.join(QStringLiteral(", "));
}

QString servedByText(const RunServed& served, const Theme& theme) {
  switch (served.state) {
    case ServingState::TakenOver:
      return QStringLiteral("<span style='color:%1'>its own engine</span>").arg(theme.success.name());
    case ServingState::Kept:
      return QStringLiteral("the general engine");
    case ServingState::Building:
      return QStringLiteral("the general engine, while its own is built");
    case ServingState::Trying:
      return QStringLiteral("both in turns");
    case ServingState::Seen:
      return QStringLiteral("the general engine, so far");
  }
  return {};
}

QString row(const QStringList& cells, const char* tag) {
  QString text;
  for (int i = 0; i < cells.size(); ++i)
    text += QStringLiteral("<%1 align='%2' style='padding-right:12px'>%3</%1>")
                .arg(QLatin1String(tag), i < 2 ? QStringLiteral("left") : QStringLiteral("right"), cells[i]);
  return QStringLiteral("<tr>%1</tr>").arg(text);
}

/// Samples of equal extents are served by one engine: the first of each.
std::vector<const RunServed*> byExtents(const RunServing& serving) {
  std::vector<const RunServed*> different;
  for (const RunServed& served : serving.samples) {
    const auto isSame = [&](const RunServed* other) { return other->extents == served.extents; };
    if (std::ranges::none_of(different, isSame)) different.push_back(&served);
  }
  return different;
}

}  // namespace

QString servingHtml(const Run& run, const Theme& theme) {
  if (!run.serving) return {};
  const RunServing& serving = *run.serving;
  const auto different = byExtents(serving);
  QString rows = row({QStringLiteral("extents"), QStringLiteral("served by"), QStringLiteral("general"),
                      QStringLiteral("its own"), QStringLiteral("taken over after"), QStringLiteral("more memory")},
                     "th");
  for (std::size_t i = 0; i < std::min(different.size(), kMostRows); ++i) {
    const RunServed& served = *different[i];
    rows +=
        row({extentsText(served), servedByText(served, theme), msText(served.generalMs), msText(served.specialisedMs),
             msText(served.takenOverMs), served.bytes > 0 ? bytesText(served.bytes) : QString()},
            "td");
  }
  QStringList remarks{QStringLiteral("On %1.").arg(qs(inWords(serving.inputs)).toHtmlEscaped())};
  if (different.size() > kMostRows)
    remarks << QStringLiteral("%1 more are not listed here; the command lists all.").arg(different.size() - kMostRows);
  if (!serving.settled) remarks << QStringLiteral("The time was over before it was settled for all of them.");
  return QStringLiteral(
             "<p style='margin:8px 0 2px 0'><b>Which engine serves which extents</b></p>"
             "<table cellspacing='0'>%1</table><p style='margin:2px 0; color:%2'>%3</p>")
      .arg(rows, theme.dimText.name(), remarks.join(QLatin1Char(' ')));
}

}  // namespace fusescope
