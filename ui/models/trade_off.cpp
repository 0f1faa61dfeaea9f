#include "ui/models/trade_off.h"

#include <algorithm>
#include <cmath>

#include "session/import_engine.h"
#include "session/inputs/sample_source.h"
#include "session/runs/verdict.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Returns why a run cannot be plotted; empty if it can.
QString whyNoPlace(const Run& run, const Evaluation* evaluation, const Verdict& verdict) {
  if (run.working()) return QStringLiteral("it is being made");
  if (Runs::endedWithoutNumbers(run)) return qs(std::string(name(run.state)));
  if (!run.time) return QStringLiteral("it was not timed");
  if (!run.time->medianMs)
    return run.time->unavailableReason.empty() ? QStringLiteral("it has no time") : qs(run.time->unavailableReason);
  if (evaluation == nullptr) return QStringLiteral("it was not evaluated: its error is not known");
  return verdict.problem.empty() ? QString() : qs(verdict.problem);
}

TradeOffRun tradeOffRun(const Run& run, const RunSettings& settings) {
  TradeOffRun made{.id = run.id, .title = Runs::title(run)};
  made.pins = std::ranges::count_if(run.options.directives, asksForAType);
  const Evaluation* evaluation = evaluationFor(run, settings);
  const Verdict verdict = evaluation == nullptr ? Verdict() : verdictOf(*evaluation, settings.tolerance);
  made.why = whyNoPlace(run, evaluation, verdict);
  if (run.time && run.time->medianMs) {
    made.ms = run.time->medianMs;
    made.minMs = run.time->minMs.value_or(*made.ms);
    made.p95Ms = run.time->p95Ms.value_or(*made.ms);
    made.quiet = run.time->quiet;
  }
  if (evaluation != nullptr && verdict.problem.empty()) made.error = verdict.notFinite ? INFINITY : verdict.error;
  return made;
}

QString inputsOn(const char* what, const SampleSource& inputs) {
  return QStringLiteral(", %1 on %2").arg(QLatin1String(what), qs(inWords(inputs)));
}

/// Describes what the runs of one group have in common. For a run without numbers, this is all that is known about it.
QString commonWords(const Run& run, const RunSettings& settings) {
  if (isReadFromFiles(run))
    return (run.machine.empty() ? QString() : qs(run.machine) + QStringLiteral(": ")) +
           QStringLiteral("read from files of an engine");
  QString words = qs(run.options.compiler);
  if (run.options.target != PlanOptions().target) words += QStringLiteral(", target %1").arg(qs(run.options.target));
  if (run.backend != RunSettings().backend) words += QStringLiteral(", backend %1").arg(qs(run.backend));
  if (run.time && run.time->medianMs) {
    if (run.time->threads > 0) words += QStringLiteral(", ") + plural(run.time->threads, QStringLiteral("thread"));
    words += inputsOn("timed", run.time->inputs);
  }
  if (const Evaluation* evaluation = evaluationFor(run, settings)) words += inputsOn("evaluated", evaluation->inputs);
  return words;
}

/// Returns whether everything else that runs of one group must have in common is equal.
bool sameMaking(const Run& a, const Run& b) {
  return a.machine == b.machine && a.model == b.model && a.extents == b.extents && a.kind == b.kind;
}

}  // namespace

QString TradeOffRun::words() const {
  if (!hasPlace()) return QStringLiteral("%1: %2").arg(title, why);
  return QStringLiteral("%1: %2 (%3 … %4)%5, error %6, %7")
      .arg(title, msText(ms), msText(minMs), msText(p95Ms),
           quiet ? QString() : QStringLiteral(" ⚠ the machine was not quiet"),
           std::isfinite(*error) ? errorText(*error) : QStringLiteral("∞"), plural(pins, QStringLiteral("pin")));
}

std::vector<TradeOffGroup> tradeOffGroups(const Runs& runs) {
  struct Known {
    const Run* first;
    TradeOffGroup group;
  };
  std::vector<Known> known;
  const auto put = [&](const Run& run, TradeOffRun made) {
    const QString words = commonWords(run, runs.settings());
    const auto fits = [&](const Known& other) {
      const QString& common = other.group.words;
      const bool sameWords = common == words || (!made.hasPlace() && common.startsWith(words + QStringLiteral(", ")));
      return sameWords && sameMaking(*other.first, run);
    };
    auto found = std::ranges::find_if(known, fits);
    if (found == known.end()) found = known.insert(known.end(), {&run, {words, {}}});
    found->group.runs.push_back(std::move(made));
  };
  // Runs that cannot be plotted are added to the first group to which they may belong. The groups are made by the other
  // runs first.
  for (const bool placed : {true, false}) {
    for (const Run& run : runs.all()) {
      if (!run.hasEngine()) continue;
      TradeOffRun made = tradeOffRun(run, runs.settings());
      if (made.hasPlace() == placed) put(run, std::move(made));
    }
  }
  std::ranges::stable_sort(known, std::ranges::greater(), [](const Known& one) {
    return std::ranges::count_if(one.group.runs, &TradeOffRun::hasPlace);
  });
  std::vector<TradeOffGroup> groups;
  for (Known& one : known) groups.push_back(std::move(one.group));
  return groups;
}

TableContent tradeOffContent(const TradeOffGroup& group, const std::vector<std::string>& front) {
  TableContent content{{"Run", "Time", "Error", "Pins", "Remark"}, {}, {}};
  for (const TradeOffRun& run : group.runs) {
    const bool isBest = std::ranges::find(front, run.id) != front.end();
    const QString said = !run.hasPlace() ? run.why
                         : isBest        ? QStringLiteral("no other run here is both faster and nearer to float32")
                         : run.quiet     ? QString()
                                         : QStringLiteral("⚠ the machine was not quiet");
    const Tone tone = run.hasPlace() ? Tone::Plain : Tone::Dim;
    content.rows.push_back(
        {qs(run.id),
         {{.text = run.title, .tip = run.words(), .tone = tone},
          {.text = run.ms ? msText(run.ms) : QStringLiteral("no time"),
           .sort = run.ms.value_or(kUnknownLast),
           .tone = tone,
           .number = true},
          {.text = !run.error                  ? QStringLiteral("unknown")
                   : std::isfinite(*run.error) ? errorText(*run.error)
                                               : QStringLiteral("∞"),
           .sort = run.error.value_or(kUnknownLast),
           .tone = tone,
           .number = true},
          {.text = QString::number(run.pins), .sort = static_cast<qlonglong>(run.pins), .number = true},
          {.text = said, .tip = said, .tone = isBest ? Tone::Good : Tone::Dim}}});
  }
  return content;
}

}  // namespace fusescope
