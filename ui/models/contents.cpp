#include "ui/models/contents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/text.h"
#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

Cell textCell(const QString& words, Tone tone = Tone::Plain) {
  return {.text = words, .tone = tone};
}

Cell milliseconds(std::optional<double> ms) {
  return {.text = msText(ms),
          .sort = ms.value_or(kUnknownLast),
          .tip = ms ? QStringLiteral("Timed in turns with the other run. The times that canvas and inspector show were "
                                     "measured separately for each run.")
                    : QString(),
          .tone = ms ? Tone::Plain : Tone::Dim,
          .number = true};
}

QString groupText(const std::vector<std::string>& names) {
  return qs(joined(names, "  |  "));
}

/// Returns the target of a click on a group: the handle of its first fused node.
QString firstHandle(const ComparedGroup& group) {
  for (const auto* side : {&group.identitiesOfA, &group.identitiesOfB})
    if (!side->empty()) return qs(group.body.exactly(handleOf(side->front())));
  return {};
}

/// Returns the difference that fills a bar: the largest difference, or the largest spread between turns if that is
/// larger.
double fullBar(const RunComparison& comparison) {
  double most = 0;
  for (const ComparedGroup& group : comparison.groups) {
    most = std::max(most, std::abs(group.deltaMs.value_or(0)));
    if (const auto& range = group.deltaRangeMs) most = std::max(most, range->most - range->least);
  }
  return most;
}

/// Returns the cell for B's time minus A's. It is coloured only if all turns agree about the sign.
Cell differenceCell(const ComparedGroup& group, double most) {
  if (!group.deltaMs)
    return {.text = QStringLiteral("unknown"), .sort = kUnknownLast, .tone = Tone::Dim, .number = true};
  const double delta = *group.deltaMs;
  Cell cell{.text = signedMsText(delta), .sort = std::abs(delta), .tone = Tone::Dim, .number = true};
  const auto& range = group.deltaRangeMs;
  if (!range) return cell;
  cell.tip = QStringLiteral("%1 to %2 over the turns").arg(signedMsText(range->least), signedMsText(range->most));
  if (!range->isSignificant(0)) {
    cell.tip += QStringLiteral(": they do not show which of A and B is faster here");
    return cell;
  }
  cell.tone = delta > 0 ? Tone::Bad : Tone::Good;
  if (most > 0) cell.bar = std::abs(delta) / most;
  return cell;
}

Tone errorToneOf(const TensorComparison& tensor) {
  if (!tensor.isMeaningful()) return Tone::Dim;
  if (!tensor.problem.empty() || !std::isfinite(tensor.maxAbs)) return Tone::Bad;
  return tensor.ok ? Tone::Plain : Tone::Warning;
}

/// Returns why there are no numbers, or otherwise the kind of the tensor.
QString contentKind(const TensorComparison& tensor, bool output) {
  if (tensor.problem.empty()) return output ? QStringLiteral("output") : QStringLiteral("inside");
  return tensor.isMeaningful() ? qs(tensor.problem)
                               : QStringLiteral("cannot be determined: %1").arg(qs(tensor.problem));
}

/// Returns the row of a tensor. A tensor that cannot be compared is sorted among the worst; a tensor about which
/// nothing can be said comes last.
TableRow errorRow(const TensorComparison& tensor, bool output) {
  const QString name = qs(tensor.name), kind = contentKind(tensor, output);
  const bool hasNumbers = tensor.problem.empty();
  const Tone tone = errorToneOf(tensor);
  const double unknown = tensor.isMeaningful() ? std::numeric_limits<double>::max() : kUnknownLast;
  const auto cell = [&](double number) {
    return Cell{.text = hasNumbers ? errorText(number) : QStringLiteral("–"),
                .sort = hasNumbers && std::isfinite(number) ? number : unknown,
                .tip = hasNumbers ? QString() : kind,
                .tone = tone,
                .number = true};
  };
  const bool hasCosine = hasNumbers && !std::isnan(tensor.cosine);
  return {name,
          {textCell(name, output ? Tone::Plain : Tone::Dim),
           {.text = kind, .tip = hasNumbers ? QString() : kind, .tone = Tone::Dim},
           cell(tensor.maxAbs),
           cell(tensor.maxOverRms),
           {.text = hasCosine ? qs(cosineText(tensor.cosine, 6)) : QStringLiteral("–"),
            .sort = hasCosine ? tensor.cosine : kUnknownLast,
            .number = true}}};
}

}  // namespace

TableContent castsContent(const PlanSnapshot& snapshot) {
  TableContent content{{"Value", "From", "To", "Between", "Bytes", "Why"}, {}, {}};
  for (const PlanSnapshot::Level& level : snapshot.levels()) {
    const Cover& cover = *level.snapshot->cover;
    for (const PlannedCast& cast : cover.casts) {
      const QString from =
          cast.producer.valid() ? qs(cover.fusedNodes[cast.producer.index].name) : QStringLiteral("input");
      QStringList to;
      for (const FusedNodeId consumer : cast.consumers) to << qs(cover.fusedNodes[consumer.index].name);
      if (to.isEmpty()) to << QStringLiteral("output");
      const QString value = qs(level.path.of(cover.graph().value(cast.value).name));
      Cell bytes{.text = bytesText(cast.bytes), .number = true};
      if (cast.bytes) bytes.sort = static_cast<qlonglong>(*cast.bytes);
      QString why = qs(cast.reason);
      why.replace(QLatin1Char('_'), QLatin1Char(' '));
      content.rows.push_back(
          {value,
           {textCell(value), textCell(qs(cast.from)), textCell(qs(cast.to)),
            textCell(from + QStringLiteral(" → ") + to.join(", "), Tone::Dim), bytes, textCell(why)}});
    }
  }
  return content;
}

TableContent compareContent(const RunComparison* comparison) {
  TableContent content{{"In A", "In B", "A", "B", "Difference"}, {}, {}};
  if (comparison == nullptr) return content;
  const double most = fullBar(*comparison);
  for (const ComparedGroup& group : comparison->groups) {
    const QString a = groupText(group.a), b = groupText(group.b);
    const QString mark = group.same ? QString() : QStringLiteral("≠ ");
    const Tone tone = group.same ? Tone::Plain : Tone::Warning;
    content.rows.push_back(
        {firstHandle(group),
         {{.text = mark + (a.isEmpty() ? QStringLiteral("no counterpart") : a), .sort = a, .tone = tone},
          {.text = mark + (b.isEmpty() ? QStringLiteral("no counterpart") : b), .sort = b, .tone = tone},
          a.isEmpty() ? Cell() : milliseconds(group.aMs),
          b.isEmpty() ? Cell() : milliseconds(group.bMs),
          differenceCell(group, most)}});
  }
  // Rows with different fusions come first, then rows whose difference is the same in all turns, and then the largest
  // differences.
  const auto rank = [](const TableRow& row) {
    return std::tuple(row.cells[0].tone != Tone::Warning, row.cells[4].tone == Tone::Dim,
                      -row.cells[4].sort.toDouble());
  };
  std::stable_sort(content.rows.begin(), content.rows.end(),
                   [&](const TableRow& a, const TableRow& b) { return rank(a) < rank(b); });
  return content;
}

TableContent errorsContent(const std::vector<TensorComparison>& outputs, const std::vector<TensorComparison>& values) {
  TableContent content{
      {"Tensor", "Kind", "Largest |Δ|", "|Δ| / rms", "Cosine"},
      {"", "An output of the network, or a value inside that both have in memory", "Largest absolute difference",
       "Largest difference over the root mean square of what was expected", "1: same direction"},
      {}};
  for (const auto* list : {&outputs, &values})
    for (const TensorComparison& tensor : *list) content.rows.push_back(errorRow(tensor, list == &outputs));
  return content;
}

TableContent errorsContent(const RunComparison* comparison) {
  if (comparison == nullptr) return errorsContent({}, {});
  TableContent content = errorsContent(comparison->outputs, comparison->values);
  if (comparison->valuesInBodies > 0)
    content.rows.push_back(
        {QString(),
         {textCell(plural(comparison->valuesInBodies, QStringLiteral("value")) + QStringLiteral(" in bodies"),
                   Tone::Dim),
          textCell(QStringLiteral("not compared"), Tone::Dim)}});
  return content;
}

}  // namespace fusescope
