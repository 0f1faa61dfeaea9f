#include "ui/models/run_contents.h"

#include <QDateTime>
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "engine/tactics/roofline.h"
#include "planning/fused_node_facts.h"
#include "session/import_engine.h"
#include "session/inputs/sample_source.h"
#include "session/runs/run_comparison.h"
#include "ui/document/names_apart.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

Cell verdictCell(const Runs& runs, const Run& run) {
  if (!run.hasEngine()) return {};
  const Verdict verdict = runs.verdict(run);
  const QString words = qs(inWords(verdict));
  switch (verdict.kind) {
    case Verdict::Kind::Pass:
      return {.text = QStringLiteral("✓ pass"), .tip = words, .tone = Tone::Good};
    case Verdict::Kind::Fail:
      return {.text = QStringLiteral("✗ fail"), .tip = words, .tone = Tone::Bad};
    case Verdict::Kind::Unknown:
      break;
  }
  return {.text = runs.evaluation(run) == nullptr ? QStringLiteral("not evaluated") : QStringLiteral("no verdict"),
          .tip = words,
          .tone = Tone::Dim};
}

/// Returns the cell with B's time divided by A's.
Cell comparedCell(const RunComparison& compared) {
  if (!compared.aMs || !compared.bMs || *compared.aMs <= 0)
    return {.text = QStringLiteral("values only"), .tip = qs(compared.timeUnavailable), .tone = Tone::Dim};
  const double ratio = *compared.bMs / *compared.aMs;
  return {.text = QStringLiteral("B = %1 A").arg(ratio, 0, 'f', 3), .sort = ratio, .number = true};
}

Cell timeCell(const Run& run) {
  if (run.working()) return {.text = qs(std::string(name(run.state))) + QStringLiteral(" …"), .tone = Tone::Dim};
  if (run.state != RunState::Ready) {
    return {.text = qs(std::string(name(run.state))),
            .tip = qs(run.problem),
            .tone = run.state == RunState::Failed ? Tone::Bad : Tone::Dim};
  }
  if (run.comparison) return comparedCell(*run.comparison);
  if (!run.time) return {.text = QStringLiteral("not timed"), .tone = Tone::Dim};
  if (!run.time->medianMs)
    return {.text = QStringLiteral("emulated"), .tip = qs(run.time->unavailableReason), .tone = Tone::Dim};
  return {.text = msText(run.time->medianMs),
          .sort = *run.time->medianMs,
          .tip = run.time->quiet ? QString() : QStringLiteral("The machine was not quiet."),
          .tone = run.time->quiet ? Tone::Plain : Tone::Warning,
          .number = true};
}

Cell markCell(const Runs& runs, const Run& run) {
  if (&run == runs.comparison())
    return {.text = QStringLiteral("⇄"), .tip = QStringLiteral("The comparison of A and B that is shown")};
  if (&run == runs.shown())
    return {.text = QStringLiteral("B"), .tip = QStringLiteral("Shown: its numbers are on screen")};
  if (&run == runs.comparedWith())
    return {.text = QStringLiteral("A"), .tip = QStringLiteral("The run that the displayed run is compared with")};
  if (runs.isLane(run.id)) return {.text = QStringLiteral("≡"), .tip = QStringLiteral("A lane of the ribbon (L)")};
  return {};
}

/// Facts that are used in all rows of a profile.
struct ProfileScale {
  QString made;  ///< describes the run
  TimeKind measured = TimeKind::Measured;
  double total = 0, most = 0;
  bool all = true;  ///< if it is false, shares would be misunderstood as shares of the whole time
  Tone tone() const { return measured == TimeKind::Measured ? Tone::Plain : Tone::Dim; }
};

Cell shareCell(const RunLayer& layer, const ProfileScale& scale) {
  if (!layer.medianMs || !scale.all || scale.total <= 0)
    return {.text = QStringLiteral("unknown"), .sort = kUnknownLast, .tone = Tone::Dim, .number = true};
  Cell cell{.text = QStringLiteral("%1 %").arg(100 * *layer.medianMs / scale.total, 0, 'f', 1),
            .sort = *layer.medianMs,
            .tone = scale.tone(),
            .number = true};
  cell.bar = scale.most > 0 ? *layer.medianMs / scale.most : 0;
  return cell;
}

/// Returns the cell that says which fraction of its time the layer would take at the peak rates that were measured on
/// this machine.
Cell rooflineCell(const RunLayer& layer, const ProfileScale& scale) {
  if (!layer.medianMs || !layer.rooflineMs || *layer.medianMs <= 0)
    return {.text = QStringLiteral("unknown"),
            .sort = kUnknownLast,
            .tip = QStringLiteral("Its work, or what this machine reaches in its type, is not known: "
                                  "the command 'fusescope inspect --machine' measures the latter."),
            .tone = Tone::Dim,
            .number = true};
  QString tip = QStringLiteral(
                    "At the fastest product and pass over memory that were measured on this machine, it "
                    "would take %1")
                    .arg(msText(layer.rooflineMs));
  if (isBeyondPeaks(layer.rooflineMs, layer.medianMs))
    tip += QStringLiteral(", more than it took: other work disturbed one of the two measurements");
  return {.text = qs(rooflineText(layer.rooflineMs, layer.medianMs)),
          .sort = *layer.rooflineMs / *layer.medianMs,
          .tip = tip,
          .tone = scale.tone(),
          .number = true};
}

Cell countCell(std::optional<std::int64_t> count, QString (*words)(std::optional<std::int64_t>)) {
  return {.text = count ? words(count) : QString(), .sort = static_cast<qlonglong>(count.value_or(-1)), .number = true};
}

/// Returns the layers of one level, the slowest first. Layers with equal times, and layers without times, keep their
/// order.
std::vector<const RunLayer*> slowestFirst(const std::vector<RunLayer>& layers) {
  std::vector<const RunLayer*> sorted;
  for (const RunLayer& layer : layers) sorted.push_back(&layer);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const RunLayer* layer) { return layer->medianMs.value_or(kUnknownLast); });
  return sorted;
}

/// Returns the path into one of the bodies of `holder`. If another body that ran has layers with the same names, the
/// path contains the name of the body.
BodyPath into(const BodyPath& path, const RunLayer& holder, const RunBody& body) {
  auto shared = std::make_shared<std::set<std::string, std::less<>>>();
  for (const RunBody& other : holder.bodies)
    if (&other != &body)
      for (const RunLayer& layer : other.layers) shared->insert(layer.name);
  std::vector<BodyPathStep> steps = path.steps();
  steps.push_back({holder.name, body.attribute, std::move(shared)});
  return BodyPath(std::move(steps));
}

/// Adds a row for each layer of the body at `path`, followed by the layers in its bodies, which are parts of it. The
/// kernels that another compiler made of a part follow the row of that part; `part` is its name and a slash.
void addLayers(const std::vector<RunLayer>& layers, const BodyPath& path, const QString& part,
               const ProfileScale& scale, TableContent& content) {
  for (const RunLayer* one : slowestFirst(layers)) {
    const RunLayer& layer = *one;
    const ShownTime time = layer.medianMs ? ShownTime{scale.measured, *layer.medianMs}
                                          : ShownTime{layer.emulated ? TimeKind::Emulated : TimeKind::Unknown};
    const QString layerName = part + qs(path.of(layer.name));
    content.rows.push_back({layer.identity.empty() ? layerName : qs(path.exactly(handleOf(layer.identity))),
                            {{.text = layerName, .tone = scale.tone()},
                             {.text = timeText(time),
                              .sort = layer.medianMs.value_or(kUnknownLast),
                              .tip = kindText(time.kind, scale.made),
                              .tone = layer.medianMs ? scale.tone() : Tone::Dim,
                              .number = true},
                             shareCell(layer, scale),
                             rooflineCell(layer, scale),
                             {.text = qs(layer.tactic), .tone = Tone::Dim},
                             countCell(layer.flops, countText),
                             countCell(layer.bytes, bytesText)}});
    addLayers(layer.kernels, path, layerName + QLatin1Char('/'), scale, content);
    for (const RunBody& body : layer.bodies) addLayers(body.layers, into(path, layer, body), {}, scale, content);
  }
}

/// Returns the cell with the name of a run. Its number always distinguishes it from others. If the name is shortened,
/// the piece that differs from `twin` is kept as well.
Cell nameCell(const Run& run, std::string_view twin, Tone tone) {
  return {.text = Runs::title(run), .twin = twin.empty() ? QString() : Runs::title(run.id, qs(twin)), .tone = tone};
}

/// Returns the inputs with which the numbers were made: those of the evaluation that determines the verdict, otherwise
/// those of the time.
Cell inputsCell(const Runs& runs, const Run& run) {
  const Evaluation* evaluation = runs.evaluation(run);
  const SampleSource* inputs = evaluation != nullptr ? &evaluation->inputs
                               : run.comparison      ? &std::as_const(run.comparison)->inputs
                               : run.time            ? &std::as_const(run.time)->inputs
                                                     : nullptr;
  if (inputs == nullptr) return {};
  if (isReadFromFiles(run))
    return {.text = QStringLiteral("not stated in the files"),
            .tip = QStringLiteral("The files of the engine do not say on which inputs it was timed"),
            .tone = Tone::Dim};
  if (inputs->empty())
    return {.text = QStringLiteral("⚠ random"),
            .tip = QStringLiteral("No inputs were given: its numbers were made with random ones"),
            .tone = Tone::Warning};
  QStringList paths;
  for (const std::string& path : inputs->paths) paths << qs(path);
  return {.text = qs(inWords(*inputs)), .tip = paths.join(QLatin1Char('\n')), .tone = Tone::Dim};
}

}  // namespace

TableContent runsContent(const Runs& runs) {
  TableContent content{{"", "Run", "Time", "Verdict", "Inputs", "Plan", "When"}, {}, {}};
  std::vector<std::string_view> names;
  for (const Run& run : runs.all()) names.push_back(run.name);
  const std::vector<std::string_view> twins = twinsOf(names);
  for (auto it = runs.all().rbegin(); it != runs.all().rend(); ++it) {
    const Run& run = *it;
    const bool own = runs.ofThisPlan(run);
    const QDateTime when = QDateTime::fromString(qs(run.started), Qt::ISODate).toLocalTime();
    content.rows.push_back(
        {qs(run.id),
         {markCell(runs, run),
          nameCell(run, twins[static_cast<std::size_t>(std::distance(runs.all().begin(), it.base())) - 1],
                   own || !run.hasEngine() ? Tone::Plain : Tone::Dim),
          timeCell(run),
          verdictCell(runs, run),
          inputsCell(runs, run),
          !run.hasEngine() ? Cell()
          : own            ? Cell{.text = QStringLiteral("on screen")}
                           : Cell{.text = QStringLiteral("another"),
                                  .tip = QStringLiteral("Other directives, types, target or extents than the plan on screen"),
                                  .tone = Tone::Dim},
          {.text = when.toString(QStringLiteral("ddd HH:mm:ss")), .tip = when.toString(), .tone = Tone::Dim}}});
  }
  return content;
}

TableContent profileContent(const Run& run, bool ofOtherPlan) {
  TableContent content{{"Layer", "Time", "Share", "Of roofline", "Tactic", "FLOPs", "Bytes"}, {}, {}};
  if (!run.time) return content;
  ProfileScale scale{.made = Runs::title(run), .measured = ofOtherPlan ? TimeKind::OfOtherPlan : TimeKind::Measured};
  for (const RunLayer& layer : run.time->layers) {
    scale.all = scale.all && layer.medianMs.has_value();
    scale.total += layer.medianMs.value_or(0);
    scale.most = std::max(scale.most, layer.medianMs.value_or(0));
  }
  addLayers(run.time->layers, {}, {}, scale, content);
  return content;
}

}  // namespace fusescope
