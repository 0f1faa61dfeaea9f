#include "ui/docks/log_contents.h"

#include <QRegularExpression>
#include <algorithm>

#include "ui/docks/inspector_html.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

std::optional<double> phaseMs(const Run* run, const std::string& phase) {
  if (run == nullptr || !run->build) return {};
  const auto& phases = run->build->phases;
  const auto found = std::ranges::find(phases, phase, &BuildPhase::name);
  return found == phases.end() ? std::nullopt : std::optional(found->ms);
}

Cell phaseTimeCell(std::optional<double> ms) {
  return {.text = ms ? msText(ms) : QStringLiteral("–"),
          .sort = ms.value_or(kUnknownLast),
          .tone = ms ? Tone::Plain : Tone::Dim,
          .number = true};
}

TableRow phaseRow(const QString& name, std::optional<double> now, std::optional<double> before, double longest) {
  Cell time = phaseTimeCell(now);
  if (now && longest > 0) time.bar = *now / longest;
  const bool known = now && before;
  const Cell apart{.text = known ? signedMsText(*now - *before) : QStringLiteral("–"),
                   .sort = known ? *now - *before : kUnknownLast,
                   .tone = Tone::Dim,
                   .number = true};
  return {{}, {{.text = name}, time, phaseTimeCell(before), apart}};
}

std::optional<double> sumOfPhases(const Run* run) {
  if (run == nullptr || !run->build || run->build->phases.empty()) return {};
  double sum = 0;
  for (const BuildPhase& phase : run->build->phases) sum += phase.ms;
  return sum;
}

/// A word is looked up without the punctuation around it.
QString wordHtml(const QString& word, const PlanSnapshot& snapshot) {
  static const QRegularExpression kAround(QStringLiteral("^([(\\[\"]*)(.*?)([)\\],;:.\"]*)$"));
  const auto parts = kAround.match(word);
  for (const QString& name : {word, parts.captured(2)}) {
    if (name.size() < 2 || snapshot.nodesNamed(name.toStdString()).empty()) continue;
    const bool whole = name == word;
    return (whole ? QString() : parts.captured(1).toHtmlEscaped()) + nodeLink(name.toStdString()) +
           (whole ? QString() : parts.captured(3).toHtmlEscaped());
  }
  return word.toHtmlEscaped();
}

QString wordsHtml(const QString& text, const PlanSnapshot& snapshot) {
  static const QRegularExpression kBorders(QStringLiteral("(?<=\\s)(?=\\S)|(?<=\\S)(?=\\s)"));
  QString html;
  for (const QString& word : text.split(kBorders)) html += wordHtml(word, snapshot);
  return html;
}

}  // namespace

const Run* lastOfItsKind(const std::vector<Run>& runs, const Run& run) {
  const Run* last = nullptr;
  for (const Run& before : runs) {
    if (before.id == run.id) return last;
    if (before.build && !before.build->phases.empty() && before.model == run.model &&
        before.options.compiler == run.options.compiler)
      last = &before;
  }
  return last;
}

TableContent phasesContent(const Run& run, const Run* last) {
  TableContent content{{"Phase", "Time", "Last time", "Apart"}, {}, {}};
  if (!run.build || run.build->phases.empty()) return content;
  double longest = 0;
  for (const BuildPhase& phase : run.build->phases) longest = std::max(longest, phase.ms);
  for (const BuildPhase& phase : run.build->phases)
    content.rows.push_back(phaseRow(qs(phase.name), phase.ms, phaseMs(last, phase.name), longest));
  if (last != nullptr)
    for (const BuildPhase& phase : last->build->phases)
      if (!phaseMs(&run, phase.name)) content.rows.push_back(phaseRow(qs(phase.name), {}, phase.ms, longest));
  content.rows.push_back(phaseRow(QStringLiteral("all of it"), sumOfPhases(&run), sumOfPhases(last), 0));
  return content;
}

QString logLineHtml(const QString& line, const PlanSnapshot* snapshot) {
  if (snapshot == nullptr) return line.toHtmlEscaped();
  // A name in single quotes may contain spaces.
  QString html;
  const QStringList parts = line.split(QLatin1Char('\''));
  for (int i = 0; i < parts.size(); ++i) {
    if (i > 0) html += QLatin1Char('\'');
    const std::string name = parts[i].toStdString();
    const bool quoted = i % 2 == 1 && i + 1 < parts.size();
    html += quoted && !snapshot->nodesNamed(name).empty() ? nodeLink(name) : wordsHtml(parts[i], *snapshot);
  }
  return html;
}

}  // namespace fusescope
