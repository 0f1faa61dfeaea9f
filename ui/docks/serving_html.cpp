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

/// Returns a text such as "its own engine: 12.3 µs with it, 20.1 µs with the general engine; it took over after 410
/// ms".
QString servedText(const RunServed& served, const Theme& theme) {
  const QString times = served.generalMs && served.specialisedMs
                            ? QStringLiteral(": %1 with it, %2 with the general engine")
                                  .arg(msText(served.specialisedMs), msText(served.generalMs))
                            : QString();
  switch (served.state) {
    case ServingState::TakenOver: {
      QString text =
          QStringLiteral("<span style='color:%1'>a specialised engine</span>%2").arg(theme.success.name(), times);
      if (served.takenOverMs) text += QStringLiteral("; it took over after %1").arg(msText(served.takenOverMs));
      if (served.bytes > 0) text += QStringLiteral(" and takes %1 more memory").arg(bytesText(served.bytes));
      return text;
    }
    case ServingState::GeneralKept:
      return times.isEmpty() ? QStringLiteral("the general engine; the log says why there is no specialised one")
                             : QStringLiteral("the general engine; a specialised one is not faster") + times;
    case ServingState::Building:
      return QStringLiteral("the general engine, while a specialised one is built");
    case ServingState::Trying:
      return QStringLiteral("both engines in turns") + times;
    case ServingState::Seen:
      return QStringLiteral("the general engine, so far");
  }
  return {};
}

/// Returns the first sample of each set of extents, because one engine serves all samples of equal extents.
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
  QString rows;
  for (std::size_t i = 0; i < std::min(different.size(), kMostRows); ++i)
    rows += QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td>%2</td></tr>")
                .arg(extentsText(*different[i]), servedText(*different[i], theme));
  QStringList remarks{QStringLiteral("On %1.").arg(qs(inWords(serving.inputs)).toHtmlEscaped())};
  if (different.size() > kMostRows)
    remarks << QStringLiteral("%1 more are not listed here; the command lists all.").arg(different.size() - kMostRows);
  if (!serving.settled) remarks << QStringLiteral("The time ended before an engine was chosen for all extents.");
  return QStringLiteral(
             "<p style='margin:8px 0 2px 0'><b>Which engine serves which extents</b></p>"
             "<table cellspacing='0'>%1</table><p style='margin:2px 0; color:%2'>%3</p>")
      .arg(rows, theme.dimText.name(), remarks.join(QLatin1Char(' ')));
}

}  // namespace fusescope
