#include "ui/docks/run_html.h"

#include <QDateTime>

#include "base/quantities.h"
#include "session/equal_regions.h"
#include "session/exported_program_report.h"
#include "session/import_engine.h"
#include "session/inputs/sample_source.h"
#include "session/runs/run_comparison.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/build_step.h"
#include "ui/document/qt_text.h"
#include "ui/document/target_words.h"

namespace fusescope {

namespace {

QString colored(const QColor& color, const QString& html) {
  return QStringLiteral("<span style='color:%1'>%2</span>").arg(color.name(), html);
}

/// Returns a description in which long words may be broken after a plus sign.
QString breakable(const std::string& text) {
  return html(text).replace(QLatin1Char('+'), QStringLiteral("+\u200b"));
}

QString boldTitle(const Run& run) {
  return QStringLiteral("<b>%1</b>").arg(Runs::title(run).toHtmlEscaped());
}

QString inputsText(const SampleSource& inputs) {
  return qs(inWords(inputs));
}

QString whenText(const std::string& utc) {
  return QDateTime::fromString(qs(utc), Qt::ISODate).toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

}  // namespace

namespace {

/// Explains why the errors of layers contradict the evaluation of the run; empty if they do not.
QString differenceHtml(const Runs& runs, const Run& run, const Theme& theme) {
  const QString why = runs.whyVerdictsDiffer(run);
  return why.isEmpty() ? why : colored(theme.warning, QStringLiteral("⚠ ") + why.toHtmlEscaped());
}

/// Returns the parts of the verdict: a text such as "✗ fails on 3 of 8 samples: …", a link to the place where the run
/// first goes wrong, and the inputs of the evaluation.
QStringList verdictParts(const Runs& runs, const Run& run, const Verdict& verdict, const Theme& theme) {
  const Evaluation* evaluation = runs.evaluation(run);
  const bool pass = verdict.kind == Verdict::Kind::Pass;
  Verdict withoutPlace = verdict;
  withoutPlace.firstWrong.clear();
  QStringList parts{colored(pass ? theme.success : theme.error,
                            QStringLiteral("<b>%1</b> ").arg(pass ? QStringLiteral("✓") : QStringLiteral("✗")) +
                                html(inWords(withoutPlace)))};
  if (!verdict.firstWrong.empty())
    parts << (verdict.firstNotFinite ? QStringLiteral("First not finite at ")
                                     : QStringLiteral("First out of bounds at ")) +
                 nodeLink(verdict.firstWrong);
  const QString inputs = inputsText(evaluation->inputs).toHtmlEscaped();
  parts << (evaluation->inputs.empty() ? colored(theme.warning, QStringLiteral("⚠ The inputs were random."))
                                       : colored(theme.dimText, QStringLiteral("On %1.").arg(inputs)));
  if (evaluation->inputs != runs.settings().inputs)
    parts << colored(theme.warning,
                     QStringLiteral("Evaluated on %1, not on the inputs that are chosen now.").arg(inputs));
  if (const QString differs = differenceHtml(runs, run, theme); !differs.isEmpty()) parts << differs;
  return parts;
}

}  // namespace

QString verdictHtml(const Runs& runs, const Run& run, const Theme& theme) {
  const Verdict verdict = runs.verdict(run);
  if (verdict.kind == Verdict::Kind::Unknown)
    return QStringLiteral("<p style='margin:0; color:%1'>%2</p>").arg(theme.dimText.name(), html(inWords(verdict)));
  return QStringLiteral("<p style='margin:0'>%1</p>")
      .arg(verdictParts(runs, run, verdict, theme).join(QStringLiteral("<br>")));
}

QString verdictLineHtml(const Runs& runs, const Run& run, const Theme& theme) {
  const Verdict verdict = runs.verdict(run);
  QStringList parts{boldTitle(run)};
  if (!runs.ofThisPlan(run)) parts << colored(theme.warning, QStringLiteral("another plan than the one on screen"));
  if (verdict.kind == Verdict::Kind::Unknown) {
    parts << colored(theme.dimText, html(inWords(verdict)));
  } else {
    parts << verdictParts(runs, run, verdict, theme);
  }
  parts << colored(theme.dimText, QStringLiteral("allowed: ") + html(inWords(runs.settings().tolerance)));
  return QStringLiteral("<p style='margin:0'>%1</p>").arg(parts.join(QStringLiteral(" · ")));
}

QString evaluationsHtml(const Runs& runs, const Run& run, const Theme& theme) {
  if (run.evaluations.size() < 2) return {};
  const Evaluation* spoken = runs.evaluation(run);
  QString rows;
  for (auto it = run.evaluations.rbegin(); it != run.evaluations.rend(); ++it) {
    const Evaluation& evaluation = **it;
    Verdict verdict = verdictOf(evaluation, evaluation.tolerance);
    verdict.firstWrong.clear();  // this is shown once, above
    const QString row = QStringLiteral("%1 · %2 · %3 · %4")
                            .arg(whenText(evaluation.when), inputsText(evaluation.inputs).toHtmlEscaped(),
                                 html(inWords(evaluation.tolerance)), html(inWords(verdict)));
    rows += QStringLiteral("<br>") + (&evaluation == spoken ? QStringLiteral("<b>%1</b>").arg(row) : row);
  }
  return QStringLiteral("<p style='margin:4px 0'>%1</p>")
      .arg(colored(theme.dimText,
                   plural(static_cast<std::int64_t>(run.evaluations.size()), QStringLiteral("evaluation")) +
                       QLatin1Char(':') + rows));
}

QString insideHtml(const Runs& runs, const Run& run, const Theme& theme) {
  const SharedOptional<RunErrors> errors = runs.errorsOf(run).errors;
  if (!errors || errors->inside.empty()) return {};
  const QString words = qs(errors->inside);
  return QStringLiteral("<p style='margin:4px 0'>%1</p>")
      .arg(colored(theme.dimText, (words.left(1).toUpper() + words.mid(1)).toHtmlEscaped() + QLatin1Char('.')));
}

QString comparisonHtml(const Runs& runs, const Run& run, const Theme& theme) {
  const RunComparison& compared = *run.comparison;
  const auto side = [&](const QString& letter, const std::string& id, std::optional<double> ms) {
    const Run* of = runs.find(id);
    return QStringLiteral("<tr><td style='padding-right:12px'>%1 %2</td><td align='right'>%3</td></tr>")
        .arg(letter, of == nullptr ? QString() : Runs::title(*of).toHtmlEscaped(), msText(ms));
  };
  QString text = QStringLiteral("<table cellspacing='0'>%1%2</table>")
                     .arg(side(QStringLiteral("A"), compared.a, compared.aMs),
                          side(QStringLiteral("B"), compared.b, compared.bMs));
  if (!compared.timeUnavailable.empty()) text += colored(theme.warning, html("No time: " + compared.timeUnavailable));
  if (compared.turns > 0) {
    text += colored(theme.dimText, QStringLiteral("%1, on %2")
                                       .arg(plural(compared.turns, QStringLiteral("turn")),
                                            inputsText(compared.inputs).toHtmlEscaped()));
  }
  return text;
}

QString failureHtml(const Runs& runs, const Runs::Failure& failure, const QString& remedy, const Theme& theme) {
  const Run& run = *runs.shown();
  const QString value = html(failure.value);
  QStringList lines{
      colored(theme.error, QStringLiteral("<b>✗ %1 goes wrong here first.</b>").arg(Runs::title(run).toHtmlEscaped())),
      !failure.why.empty() ? QStringLiteral("%1: %2.").arg(value, html(failure.why))
      : failure.notFinite  ? QStringLiteral("%1 becomes infinite or NaN, where it is finite in float32.").arg(value)
                           : QStringLiteral("%1 is further from float32 than the tolerance allows.").arg(value)};
  if (const QString differs = differenceHtml(runs, run, theme); !differs.isEmpty()) lines << differs;
  if (!remedy.isEmpty()) lines << remedy;
  return QStringLiteral("<p style='margin:0 0 8px 0'>%1</p>").arg(lines.join(QStringLiteral("<br>")));
}

/// Returns the first wrong tensor according to the errors of layers, if they were measured.
static QString firstWrongHtml(const Runs& runs, const Theme& theme) {
  const auto first = runs.firstWrong();
  if (!first) return {};
  return QStringLiteral("<p style='margin:4px 0'>%1<br>%2 </p>")
      .arg(colored(theme.error, QStringLiteral("<b>✗ %1 goes wrong first.</b>").arg(nodeLink(first->tensor))),
           html(first->why) + QLatin1Char('.'));
}

namespace {

/// Returns a link for the next step that looks like a button.
QString stepHtml(const QString& link, const QString& words, const Theme& theme) {
  return QStringLiteral(
             "<table cellspacing='0' cellpadding='7' style='margin:8px 0 2px 0; border-width:1px; border-style:solid; "
             "border-color:%1; border-collapse:collapse'><tr><td bgcolor='%2'><a href='%3' style='color:%4; "
             "text-decoration:none'><b>%5&nbsp;›</b></a></td></tr></table><p style='margin:0; "
             "font-size:6px'>&nbsp;</p>")
      .arg(theme.dimText.name(), theme.raised.name(), link, theme.text.name(), words.toHtmlEscaped());
}

QString stepOr(const QString& refusal, const QString& link, const QString& words, const Theme& theme) {
  return refusal.isEmpty()
             ? stepHtml(link, words, theme)
             : QStringLiteral("<p style='margin:8px 0'>%1</p>").arg(colored(theme.dimText, refusal.toHtmlEscaped()));
}

/// Returns the steps that lead to a displayed run of the plan on screen, if there is none.
QString stepsToARun(const Runs& runs, const RunController& controller, const PlanDocument& document,
                    const Theme& theme) {
  if (const Run* fits = runs.newestOfThisPlan())
    return stepHtml(QStringLiteral("do:show:%1").arg(qs(fits->id)),
                    QStringLiteral("Show run %1, which is of this plan").arg(qs(fits->id)), theme);
  const BuildStep step = buildStep(document, controller);
  const QString build = stepOr(step.refusal, QStringLiteral("do:build"),
                               step.timesIt ? step.words + QStringLiteral(" and time it") : step.words, theme);
  if (isExportedProgram(*document.model()))
    return build + stepHtml(QStringLiteral("do:runnable"), QStringLiteral("Make it runnable by torch"), theme);
  if (!controller.plansOnly()) return build;
  // A refusal says itself who builds.
  const QString whoBuilds =
      step.other == nullptr || !step.refusal.isEmpty()
          ? QString()
          : QStringLiteral("<p style='margin:0'>%1</p>")
                .arg(onlyPlannedText(*document.snapshot()->plan, controller.compilers()).toHtmlEscaped());
  return whoBuilds + build +
         stepHtml(QStringLiteral("do:cpu"), QStringLiteral("Plan for cpu, which engines are built for"), theme) +
         stepHtml(QStringLiteral("do:export"), QStringLiteral("Export the plan to where it is deployed"), theme);
}

/// Returns the step that follows a displayed run of the plan on screen; empty if there is no obvious one.
QString stepAfter(const Runs& runs, const RunController& controller, const Run& shown, const Theme& theme) {
  if (shown.working()) return {};
  if (runs.failure())
    return stepHtml(QStringLiteral("do:wrong"), QStringLiteral("Go to where it first goes wrong"), theme);
  if (shown.evaluations.empty())
    return stepOr(controller.evaluateRefusal(), QStringLiteral("do:evaluate"),
                  QStringLiteral("Evaluate it: how far is it from float32?"), theme);
  if (!controller.planIsBaseline() && runs.comparison() == nullptr && controller.buildRefusal().isEmpty())
    return stepHtml(QStringLiteral("do:both"), QStringLiteral("Compare it with the baseline in float32"), theme);
  return {};
}

}  // namespace

QString nextStepHtml(const Runs& runs, const RunController& controller, const PlanDocument& document,
                     const Theme& theme) {
  const auto line = [](const QString& text) { return QStringLiteral("<p style='margin:0 0 4px 0'>%1</p>").arg(text); };
  const Run* shown = runs.shown();
  if (shown == nullptr)
    return line(colored(theme.dimText, QStringLiteral("No run is shown."))) +
           stepsToARun(runs, controller, document, theme);
  if (!runs.ofThisPlan(*shown)) {
    const QString other =
        boldTitle(*shown) + QStringLiteral(" is of another plan: %1").arg(html(inWords(runs.verdict(*shown))));
    return line(colored(theme.dimText, other)) + stepsToARun(runs, controller, document, theme);
  }
  const bool evaluated = !shown->evaluations.empty() || shown->working();
  return line(boldTitle(*shown)) + (evaluated ? verdictHtml(runs, *shown, theme) : firstWrongHtml(runs, theme)) +
         timeHtml(*shown, theme) + stepAfter(runs, controller, *shown, theme);
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
        .arg(colored(theme.warning, QStringLiteral("<b>No time:</b> ") + why));
  }
  QStringList parts{QStringLiteral("<b>%1</b> median").arg(msText(time.medianMs))};
  if (time.minMs) parts << QStringLiteral("%1 fastest").arg(msText(time.minMs));
  if (time.p95Ms) parts << QStringLiteral("%1 p95").arg(msText(time.p95Ms));
  const QString often = qs(inThousands(time.samples));
  if (time.threads > 0)
    parts << QStringLiteral("measured %1 times on %2").arg(often, plural(time.threads, QStringLiteral("thread")));
  else if (time.samples > 0)
    parts << QStringLiteral("of %1 runs").arg(often);
  QString text = parts.join(QStringLiteral(" · "));
  if (!time.quiet)
    text += QStringLiteral(" · ") + colored(theme.warning, QStringLiteral("⚠ the machine was not quiet"));
  if (!time.remark.empty()) text += QStringLiteral("<br>") + colored(theme.dimText, html(time.remark));
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
  if (run.options.compiler == kOwnCompiler)
    if (const std::string equal = equalRegionsInWords(run.build->regions, run.build->distinct); !equal.empty())
      what += QStringLiteral("<br>") + qs(equal);
  return QStringLiteral("<p style='margin:4px 0'>%1</p><table cellspacing='0'>%2</table>")
      .arg(colored(theme.dimText, what), rows);
}

QString originHtml(const Run& run, const Theme& theme) {
  const auto on = [](const QString& what, const SampleSource& inputs) {
    return QStringLiteral(" · %1 on %2").arg(what, inputsText(inputs));
  };
  // For an engine that was read from files, the inputs of its measurements are unknown.
  const bool ranHere = !isReadFromFiles(run);
  QString inputs;
  if (run.time && ranHere) inputs += on(QStringLiteral("timed"), run.time->inputs);
  if (!run.evaluations.empty())
    inputs += on(QStringLiteral("evaluated"), std::as_const(run.evaluations.back())->inputs);
  const QString ours = QStringLiteral(" · %1 backend").arg(qs(run.backend));
  const QString theirs = QStringLiteral(" · compiled by %1").arg(html(run.options.compiler));
  const QString backend = !run.hasEngine() || !ranHere           ? QString()
                          : run.options.compiler == kOwnCompiler ? ours
                                                                 : theirs;
  return QStringLiteral("<p style='margin:4px 0'>%1</p>")
      .arg(colored(theme.dimText,
                   QStringLiteral("%1%2%3<br>%4")
                       .arg(whenText(run.started), backend, inputs.toHtmlEscaped(), breakable(run.machine))));
}

}  // namespace fusescope
