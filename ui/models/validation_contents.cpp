#include "ui/models/validation_contents.h"

#include <algorithm>

#include "base/text.h"
#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

Cell verdictMark(const Verdict& verdict) {
  switch (verdict.kind) {
    case Verdict::Kind::Pass:
      return {.text = QStringLiteral("✓ pass"), .tone = Tone::Good};
    case Verdict::Kind::Fail:
      return {.text = QStringLiteral("✗ fail"), .tip = qs(inWords(verdict)), .tone = Tone::Bad};
    case Verdict::Kind::Unknown:
      break;
  }
  return {.text = QStringLiteral("unknown"), .tip = qs(verdict.unknownWhy), .tone = Tone::Dim};
}

Cell numberOrDash(double number, bool known) {
  return {
      .text = known ? errorText(number) : QStringLiteral("–"), .sort = known ? number : kUnknownLast, .number = true};
}

TableRow verdictRow(const SampleVerdict& sample) {
  const Verdict& verdict = sample.verdict;
  const bool known = verdict.kind != Verdict::Kind::Unknown;
  return {qs(verdict.output),
          {{.text = qs(sample.sample)},
           verdictMark(verdict),
           known ? Cell{.text = qs(verdict.output), .tip = qs(verdict.problem)}
                 : Cell{.text = qs(verdict.unknownWhy), .tip = qs(verdict.unknownWhy), .tone = Tone::Dim},
           numberOrDash(verdict.error, known),
           numberOrDash(verdict.ofBound, known)}};
}

/// Returns "weight only" for "weight_only".
QString spaced(std::string_view name) {
  return qs(name).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QString namesOf(const std::vector<CoveringNode>& nodes) {
  QStringList names;
  for (const CoveringNode& node : nodes) names << qs(node.place.text());
  return names.join(QStringLiteral("  |  "));
}

/// Returns the target of a click: a fused node of the plan on screen, or otherwise a name that both sides may have.
QString handleOfFirst(const std::vector<CoveringNode>& b, const std::vector<std::string>& nodes) {
  if (!b.empty() && b.front().place.bodies.isNetwork()) return qs(handleOf(b.front().identity.hex()));
  return nodes.empty() ? QString() : qs(nodes.front());
}

/// Makes the rows of a diff.
class DifferenceRows {
 public:
  DifferenceRows(TableContent& content, bool causesKnown) : m_content(content), m_causesKnown(causesKnown) {}

  void add(const QString& change, const QString& what, const QString& a, const QString& b, const Causes& because,
           const QString& goesTo) {
    addGiven(change, what, a, b, goesTo);
    m_content.rows.back().cells.back() = {
        .text = because.empty() ? QStringLiteral("not known") : withoutOptions(qs(joined(because, " and "))),
        .tip = because.empty() && !m_causesKnown ? QString::fromLatin1(kCausesNotDisclosed) : QString(),
        .tone = because.empty() ? Tone::Dim : Tone::Plain};
  }
  /// Adds a difference that has no cause: of directives, networks or measurements.
  void addGiven(const QString& change, const QString& what, const QString& a, const QString& b,
                const QString& goesTo = {}) {
    m_content.rows.push_back(
        {goesTo, {{.text = change}, {.text = what}, {.text = a, .tone = Tone::Dim}, {.text = b}, {}}});
  }

 private:
  TableContent& m_content;
  bool m_causesKnown;
};

void addPlanChanges(const PlanDiff& diff, DifferenceRows& rows) {
  for (const FusionChange& change : diff.fusions)
    rows.add(QStringLiteral("fusion ") + qs(name(change.change)), qs(joined(change.nodes, ", ")), namesOf(change.a),
             namesOf(change.b), change.because, handleOfFirst(change.b, change.nodes));
  for (const FateChange& change : diff.fates)
    rows.add(QStringLiteral("becomes"), qs(change.node), qs(change.a), qs(change.b), change.because, qs(change.node));
  for (const SegmentChange& change : diff.segments)
    rows.add(QStringLiteral("segment ") + qs(name(change.change)), qs(joined(change.nodes, ", ")),
             qs(joined(change.a, "  |  ")), qs(joined(change.b, "  |  ")), change.because,
             change.nodes.empty() ? QString() : qs(change.nodes.front()));
  for (const TypeChange& change : diff.types) {
    if (change.inSameKernel) continue;  // the kernel is listed instead
    rows.add(QStringLiteral("type of ") + spaced(name(change.thing)), qs(change.name), qs(change.a), qs(change.b),
             change.because, qs(change.nameInB));
  }
  for (const CastChange& change : diff.casts) {
    const QString cast = QStringLiteral("%1 to %2").arg(qs(change.from), qs(change.to));
    rows.add(QStringLiteral("conversion"), qs(change.value), change.added ? QString() : cast,
             change.added ? cast : QString(), change.because, qs(change.value));
  }
  for (const DecisionChange& change : diff.decisions) {
    const Decision& about = change.b != nullptr ? *change.b : *change.a;
    rows.add(QStringLiteral("decision"), about.subjects.empty() ? QString() : qs(about.subjects.front().text()),
             change.a == nullptr ? QString() : inWindowWords(*change.a),
             change.b == nullptr ? QString() : inWindowWords(*change.b), change.because,
             about.subjects.empty() ? QString() : qs(about.subjects.front().text()));
  }
}

void addNetworkChanges(const PlanDiff& diff, DifferenceRows& rows) {
  for (const Difference& difference : diff.differences)
    rows.addGiven(QStringLiteral("option"), spaced(name(difference.kind)), withoutOptions(qs(difference.a)),
                  withoutOptions(qs(difference.b)));
  for (const ChangedNode& node : diff.changed)
    rows.addGiven(QStringLiteral("node"), qs(node.what), qs(node.a), qs(node.b), qs(node.b));
  for (const ConstantChange& change : diff.constants) {
    QString what = QStringLiteral("%1 of %2 elements differ").arg(change.differing).arg(change.elements);
    if (change.maxOverRms) what += QStringLiteral(", max|Δ| %1 of rms").arg(errorText(*change.maxOverRms));
    rows.addGiven(QStringLiteral("constant"), what, qs(change.a), qs(change.b), handleOfFirst(change.readersOfB, {}));
  }
  for (const std::string& node : diff.onlyA)
    rows.addGiven(QStringLiteral("node"), QStringLiteral("only in the file"), qs(node), QString());
  for (const std::string& node : diff.onlyB)
    rows.addGiven(QStringLiteral("node"), QStringLiteral("only on screen"), QString(), qs(node), qs(node));
}

void addMeasured(const PlanDiff& diff, DifferenceRows& rows) {
  const auto text = [](const DiffTime& time) {
    return QStringLiteral("%1 (%2)").arg(msText(time.ms), qs(name(time.how)));
  };
  for (const TimeChange& change : diff.times)
    rows.addGiven(QStringLiteral("time"), namesOf(change.b), text(change.ofA), text(change.ofB),
                  handleOfFirst(change.b, {}));
  for (const ErrorChange& change : diff.errors)
    rows.addGiven(QStringLiteral("error"), qs(change.name), errorText(change.a), errorText(change.b), qs(change.name));
}

}  // namespace

TableContent verdictsContent(const Evaluation* evaluation, const Tolerance& tolerance) {
  TableContent content{{"Sample", "Verdict", "Worst output", "max|Δ| of rms", "Share of the tolerance"}, {}, {}};
  if (evaluation == nullptr) return content;
  std::vector<SampleVerdict> verdicts = sampleVerdicts(*evaluation, tolerance);
  // The worst verdicts come first, and unknown ones last.
  std::ranges::stable_sort(verdicts, std::ranges::greater(), [](const SampleVerdict& sample) {
    return sample.verdict.kind == Verdict::Kind::Unknown ? kUnknownLast : sample.verdict.ofBound;
  });
  for (const SampleVerdict& sample : verdicts) content.rows.push_back(verdictRow(sample));
  return content;
}

TableContent differencesContent(const ComparedPlans* compared) {
  TableContent content{{"What", "Where", "A: file", "B: on screen", "Because of"}, {}, {}};
  if (compared == nullptr) return content;
  DifferenceRows rows(content, compared->diff.causesKnown);
  addNetworkChanges(compared->diff, rows);
  addPlanChanges(compared->diff, rows);
  addMeasured(compared->diff, rows);
  return content;
}

}  // namespace fusescope
