#include "ui/docks/run_html.h"

#include <QDateTime>
#include <QFileInfo>

#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

QString colored(const QColor& color, const QString& html) {
  return QStringLiteral("<span style='color:%1'>%2</span>").arg(color.name(), html);
}

/// A description whose long words may be broken where they are joined.
QString breakable(const std::string& text) {
  return html(text).replace(QLatin1Char('+'), QStringLiteral("+\u200b"));
}

}  // namespace

QString verdictHtml(const Verdict& verdict, const Run& run, const Theme& theme) {
  if (verdict.kind == Verdict::Kind::Unknown)
    return QStringLiteral("<p style='margin:0; color:%1'>%2</p>").arg(theme.dimText.name(), html(inWords(verdict)));
  const bool pass = verdict.kind == Verdict::Kind::Pass;
  Verdict withoutPlace = verdict;
  withoutPlace.firstWrong.clear();
  QString text =
      QStringLiteral("<b>%1</b> ").arg(pass ? QStringLiteral("✓") : QStringLiteral("✗")) + html(inWords(withoutPlace));
  text = colored(pass ? theme.success : theme.error, text);
  if (!verdict.firstWrong.empty()) {
    text +=
        QStringLiteral("<br>") +
        (verdict.firstNotFinite ? QStringLiteral("First not finite at ") : QStringLiteral("First out of bounds at ")) +
        nodeLink(verdict.firstWrong);
  }
  if (run.evaluation && run.evaluation->inputs.empty())
    text += QStringLiteral("<br>") + colored(theme.dimText, QStringLiteral("The inputs were random."));
  return QStringLiteral("<p style='margin:0'>%1</p>").arg(text);
}

QString failureHtml(const Runs::Failure& failure, const Run& run, const Theme& theme) {
  const QString what = failure.verdict.firstNotFinite
                           ? QStringLiteral("%1 becomes infinite or NaN, where it is finite in float32.")
                           : QStringLiteral("%1 is further from float32 than the tolerance allows.");
  const QString pin = QStringLiteral("<a href='pin:%1'>Pin %1 to f32</a>").arg(html(failure.name));
  return QStringLiteral("<p style='margin:0 0 8px 0'>%1<br>%2<br>%3</p>")
      .arg(colored(theme.error,
                   QStringLiteral("<b>✗ %1 goes wrong here first.</b>").arg(html(Runs::title(run).toStdString()))),
           what.arg(html(failure.verdict.firstWrong)), pin);
}

QString nextStepHtml(const Run* shown, const std::optional<Runs::Failure>& failure, const Theme& theme) {
  const auto step = [](const QString& link, const QString& words) {
    return QStringLiteral("<p style='margin:8px 0 0 0'><a href='%1'>%2</a></p>").arg(link, words);
  };
  if (shown == nullptr) return step(QStringLiteral("do:build"), QStringLiteral("Build this plan and time it"));
  QString text =
      QStringLiteral("<p style='margin:8px 0 2px 0'><b>%1</b></p>").arg(html(Runs::title(*shown).toStdString()));
  if (!shown->evaluation && !shown->working()) {
    return text + timeHtml(*shown, theme) +
           step(QStringLiteral("do:evaluate"), QStringLiteral("Evaluate it: how far is it from float32?"));
  }
  text += verdictHtml(shown->evaluation
                          ? failure ? failure->verdict : verdictOf(*shown->evaluation, shown->evaluation->tolerance)
                          : Verdict{.unknownWhy = "it is being worked on"},
                      *shown, theme);
  return text + timeHtml(*shown, theme);
}

QString timeHtml(const Run& run, const Theme& theme) {
  if (!run.time) {
    return QStringLiteral("<p style='margin:4px 0; color:%1'>%2</p>")
        .arg(theme.dimText.name(),
             run.working() ? qs(std::string(name(run.state))) + QStringLiteral(" …") : QStringLiteral("not timed"));
  }
  const RunTime& time = *run.time;
  if (!time.medianMs) {
    const QString why = time.unavailableReason.empty() ? QStringLiteral("not measured") : html(time.unavailableReason);
    return QStringLiteral("<p style='margin:4px 0'>%1</p>")
        .arg(colored(theme.warning, QStringLiteral("<b>No time.</b> ") + why));
  }
  QString text = QStringLiteral("<b>%1</b> median · %2 fastest · %3 p95 · %4 samples on %5")
                     .arg(msText(time.medianMs), msText(time.minMs), msText(time.p95Ms))
                     .arg(time.samples)
                     .arg(plural(time.threads, QStringLiteral("thread")));
  if (!time.quiet)
    text += QStringLiteral(" · ") + colored(theme.warning, QStringLiteral("⚠ the machine was not quiet"));
  return QStringLiteral("<p style='margin:4px 0'>%1</p>").arg(text);
}

QString phasesHtml(const Run& run, const Theme& theme) {
  if (!run.build) return {};
  QString rows;
  for (const BuildPhase& phase : run.build->phases) {
    rows += QStringLiteral("<tr><td style='padding-right:12px'>%1</td><td align='right'>%2</td></tr>")
                .arg(html(phase.name), msText(phase.ms));
  }
  QString what = bytesText(run.build->bytes);
  if (run.build->regions > 0)
    what = QStringLiteral("%1 regions, %2 distinct · ").arg(run.build->regions).arg(run.build->distinct) + what;
  return QStringLiteral("<p style='margin:4px 0'>%1</p><table cellspacing='0'>%2</table>")
      .arg(colored(theme.dimText, what), rows);
}

QString originHtml(const Run& run, const Theme& theme) {
  const QDateTime when = QDateTime::fromString(qs(run.started), Qt::ISODate).toLocalTime();
  const auto on = [](const QString& what, const std::string& inputs) {
    return QStringLiteral(" · %1 on %2")
        .arg(what, inputs.empty() ? QStringLiteral("random inputs") : QFileInfo(qs(inputs)).fileName());
  };
  QString inputs;
  if (run.time) inputs += on(QStringLiteral("timed"), run.time->inputs);
  if (run.evaluation) inputs += on(QStringLiteral("evaluated"), run.evaluation->inputs);
  return QStringLiteral("<p style='margin:4px 0'>%1</p>")
      .arg(colored(theme.dimText, QStringLiteral("%1 · %2 backend%3<br>%4")
                                      .arg(when.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss")), qs(run.backend),
                                           inputs.toHtmlEscaped(), breakable(run.machine))));
}

}  // namespace fusescope
