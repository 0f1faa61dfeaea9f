#include "session/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/medians.h"
#include "base/text.h"
#include "base/version.h"
#include "compilers/probed/probed_compiler.h"
#include "compilers/time_alone.h"
#include "planning/body_cover.h"
#include "planning/without_lowered_types.h"
#include "session/artifact.h"
#include "session/build_and_run.h"
#include "session/error_report.h"
#include "session/layer_error_report.h"
#include "session/samples.h"

namespace fusescope {
namespace {

/// Each engine is timed in this many short turns, A B A B …, so that what else the machine does meets both alike.
constexpr int kTurns = 5;
/// Of a turn's time, the part that goes to timing layers: the profiler's own cost is kept out of the totals.
constexpr double kLayersShare = 0.4;
constexpr double kFirstWarmup = 0.3;
constexpr double kLaterWarmup = 0.02;

std::optional<double> medianOf(std::vector<double> samples) {
  return samples.empty() ? std::nullopt : std::optional(upperMedian(std::move(samples)));
}

/// A fused node of an engine: the body that it is in (CoveringNode::place), and its number in that plan.
using MeasuredNode = std::pair<BodyPath, FusedNodeId>;

/// What the turns of one engine measured.
struct Measured {
  explicit Measured(const Cover& of) : made(of) {}

  const Cover& made;  ///< what the engine runs
  std::vector<double> totals;
  std::map<MeasuredNode, std::vector<double>> layers;
  std::set<MeasuredNode> emulated;
  std::string unavailable;
  std::string disturbed;  ///< what else went on while a turn was measured; empty: nothing that is known

  std::optional<double> total() const { return medianOf(totals); }
  /// The sum over fused nodes; one without a step of its own (a view of its input) takes no time. Nothing where another
  /// compiler tells no time of a kernel: its part was timed as a whole.
  std::optional<double> sum(const std::vector<CoveringNode>& fusedNodes) const {
    return sumOf(fusedNodes, [](const std::vector<double>& turns) { return medianOf(turns); });
  }
  /// The same, of one turn alone.
  std::optional<double> sumInTurn(const std::vector<CoveringNode>& fusedNodes, std::size_t turn) const {
    return sumOf(fusedNodes, [&](const std::vector<double>& turns) {
      return turn < turns.size() ? std::optional(turns[turn]) : std::nullopt;
    });
  }
  /// Whether the time of a fused node is known from its step alone: that of a kernel of another compiler.
  bool mustBeTold(const CoveringNode& fused) const {
    const ReadBackPlan* readBack = asReadBack(made);
    if (readBack == nullptr) return false;
    if (!fused.place.bodies.isNetwork()) return true;
    const ReadBackPlan::Kernel& kernel = readBack->kernels[fused.id.index];
    return !kernel.isOurs && !kernel.once;
  }
  bool isTold(const CoveringNode& fused) const {
    return !mustBeTold(fused) || layers.contains({fused.place.bodies, fused.id});
  }

 private:
  template <class TimeOf>
  std::optional<double> sumOf(const std::vector<CoveringNode>& fusedNodes, TimeOf timeOf) const {
    if (!unavailable.empty() || totals.empty()) return {};
    double ms = 0;
    for (const CoveringNode& fused : fusedNodes) {
      if (emulated.contains({fused.place.bodies, fused.id})) return {};
      const auto found = layers.find({fused.place.bodies, fused.id});
      const std::optional<double> one = found == layers.end() ? std::nullopt : timeOf(found->second);
      if (!one && mustBeTold(fused)) return {};
      ms += one.value_or(0);
    }
    return ms;
  }
};

/// Why some groups have no time where the engines have one; empty: all have.
std::string untoldTimes(const Measured& a, const Measured& b, const std::vector<CompareGroup>& groups) {
  const auto untold = [](const char* side, const Measured& measured, const std::vector<CoveringNode>& fusedNodes) {
    const auto isUntold = [&](const CoveringNode& fused) { return !measured.isTold(fused); };
    if (!measured.unavailable.empty() || std::ranges::none_of(fusedNodes, isUntold)) return std::string();
    return fmt::format("{}: {} does not report the time of each of its kernels", side,
                       asReadBack(measured.made)->compiler.name);
  };
  std::string ofA, ofB;
  for (const CompareGroup& group : groups) {
    if (ofA.empty()) ofA = untold("A", a, group.a);
    if (ofB.empty()) ofB = untold("B", b, group.b);
  }
  return ofA + (ofA.empty() || ofB.empty() ? "" : "; ") + ofB;
}

/// The range of `measured(turn)` over the turns; nothing if one gives nothing.
template <class OfTurn>
std::optional<Range> rangeOver(std::size_t turns, OfTurn measured) {
  std::optional<Range> range;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const std::optional<double> value = measured(turn);
    if (!value) return {};
    range = range ? Range{std::min(range->least, *value), std::max(range->most, *value)} : Range{*value, *value};
  }
  return range;
}

/// Totals, groups and how far the turns agree about them.
void fillTimes(const Measured& a, const Measured& b, CompareReport& report) {
  if (a.unavailable.empty()) report.aMs = a.total();
  if (b.unavailable.empty()) report.bMs = b.total();
  const std::size_t turns = std::min(a.totals.size(), b.totals.size());
  report.turns = static_cast<int>(turns);
  report.ratioRange = rangeOver(turns, [&](std::size_t turn) -> std::optional<double> {
    return a.totals[turn] > 0 ? std::optional(b.totals[turn] / a.totals[turn]) : std::nullopt;
  });
  for (auto& group : report.groups) {
    group.aMs = a.sum(group.a);
    group.bMs = b.sum(group.b);
    if (!group.aMs || !group.bMs) continue;
    group.deltaMs = *group.bMs - *group.aMs;
    group.deltaRangeMs = rangeOver(turns, [&](std::size_t turn) -> std::optional<double> {
      const auto ofA = a.sumInTurn(group.a, turn), ofB = b.sumInTurn(group.b, turn);
      return ofA && ofB ? std::optional(*ofB - *ofA) : std::nullopt;
    });
  }
  report.groupsUnavailable = untoldTimes(a, b, report.groups);
}

/// Steps of one turn, of what is made of the body at `path`; of a part that another compiler compiled its kernels.
void takeLayers(const std::vector<StepTime>& layers, const Cover& made, const BodyPath& path,
                std::map<MeasuredNode, double>& turn, Measured& into) {
  for (const StepTime& layer : layers) {
    takeLayers(layer.kernels, made, path, turn, into);
    if (!layer.fused.valid()) continue;
    if (layer.emulated) into.emulated.insert({path, layer.fused});
    if (layer.medianMs) turn[{path, layer.fused}] += *layer.medianMs;
    const NodeId holder = made.fusedNodes[layer.fused.index].root;
    for (const BodyTimes& body : layer.bodies)
      if (const Cover* inside = bodyCover(made, holder, body.attribute))
        takeLayers(body.steps, *inside, path.into(made.graph().node(holder), body.attribute), turn, into);
  }
}

Status measureTurn(Engine& engine, const std::map<std::string, Tensor>& inputs, TimeOptions options, Measured& into) {
  options.perLayer = false;
  const double seconds = options.seconds;
  options.seconds = seconds * (1 - kLayersShare);
  const RestWatch others;
  const auto whole = TRY(timeAlone(engine, inputs, options));
  if (!whole.medianMs) {
    into.unavailable = whole.unavailableReason.empty() ? "the engine gave no time" : whole.unavailableReason;
    return Done{};
  }
  into.totals.push_back(*whole.medianMs);
  if (others.sum().disturbed() && into.disturbed.empty()) into.disturbed = others.sum().inWords();
  options.perLayer = true;
  options.seconds = seconds * kLayersShare;
  options.warmupSeconds = kLaterWarmup;
  const auto profiled = TRY(timeAlone(engine, inputs, options));
  std::map<MeasuredNode, double> turn;
  takeLayers(profiled.layers, into.made, {}, turn, into);
  for (const auto& [node, ms] : turn) into.layers[node].push_back(ms);
  return Done{};
}

Status measureInterleaved(Engine& a, Engine& b, const std::map<std::string, Tensor>& inputs, double seconds,
                          const StopToken& stop, const Progress& progress, CompareReport& report) {
  const auto madeOfA = a.made(), madeOfB = b.made();
  Measured ofA(*madeOfA), ofB(*madeOfB);
  for (int turn = 0; turn < kTurns && ofA.unavailable.empty() && ofB.unavailable.empty(); ++turn) {
    if (progress) progress("time", fmt::format("turn {} of {}", turn + 1, kTurns));
    TimeOptions options{.seconds = seconds / (2 * kTurns),
                        .warmupSeconds = turn == 0 ? std::min(kFirstWarmup, seconds / 4) : kLaterWarmup,
                        .stop = stop};
    TRY(checkStop(stop));
    TRY(measureTurn(a, inputs, options, ofA));
    TRY(checkStop(stop));
    TRY(measureTurn(b, inputs, options, ofB));
  }
  if (!ofA.unavailable.empty()) report.timeUnavailable = "A: " + ofA.unavailable;
  if (!ofB.unavailable.empty()) {
    report.timeUnavailable += (report.timeUnavailable.empty() ? "B: " : "; B: ") + ofB.unavailable;
  }
  fillTimes(ofA, ofB, report);
  for (const auto& [side, measured] : {std::pair("A", &ofA), std::pair("B", &ofB)})
    if (!measured->disturbed.empty() && report.notRanked.empty())
      report.notRanked = fmt::format("{} was disturbed while it was timed: {}", side, measured->disturbed);
  if (!report.notRanked.empty()) report.ratioRange.reset();
  return Done{};
}

/// Inner values that both runs hold, against `expected`, in the order of the graph.
std::vector<TensorComparison> compareValues(const Graph& graph, const RunResult& actual, const RunResult& expected,
                                            const Tolerance& tolerance) {
  std::vector<TensorComparison> comparisons;
  for (const auto id : graph.order()) {
    for (const auto output : graph.node(id).outputs) {
      if (!output.valid() || graph.isOutput(output)) continue;
      const auto& name = graph.value(output).name;
      const auto of = actual.marked.find(name);
      const auto reference = expected.marked.find(name);
      if (of == actual.marked.end() || reference == expected.marked.end()) continue;
      if (of->second.type() == reference->second.type()) {
        comparisons.push_back(compareTensors(name, of->second, reference->second, tolerance));
        continue;
      }
      // A truncated plan holds the same numbers in a narrower type.
      comparisons.push_back(
          compareTensors(name, of->second.converted(reference->second.type()), reference->second, tolerance));
    }
  }
  return comparisons;
}

/// By ValueId: what a plan has in memory.
std::set<ValueId> inMemory(const Cover& plan) {
  std::set<ValueId> values;
  for (const FusedNode& fused : plan.fusedNodes) {
    for (const FusedOutput& output : fused.outputs)
      if (output.value.valid()) values.insert(output.value);
    for (const InnerEdge& edge : fused.innerEdges)
      if (edge.real) values.insert(edge.value);
  }
  return values;
}

/// Values that both plans have in memory in their bodies. A body runs once for each call: which call's value would be
/// compared is nobody's to say, so they are counted.
std::int64_t valuesInBodies(const Cover& a, const Cover& b) {
  std::int64_t count = 0;
  for (const PlanLevel& level : planLevels(a, b)) {
    if (level.around < 0 || level.a == nullptr || level.b == nullptr) continue;
    const std::set<ValueId> ofB = inMemory(*level.b);
    for (const ValueId value : inMemory(*level.a))
      if (ofB.contains(level.match.valueOfB[value.index])) ++count;
  }
  return count;
}

/// "onnxruntime 1.32.0, level=basic".
std::string compilerText(const Cover& made) {
  const ReadBackPlan* readBack = asReadBack(made);
  if (readBack == nullptr) return kOwnCompiler + std::string(" ") + std::string(kFusescopeVersion);
  std::string text = readBack->compiler.name + " " + readBack->compiler.version;
  for (const auto& [name, value] : readBack->compiler.options) text += ", " + name + "=" + value;
  return text;
}

/// What `lowered` gives, held against what `full`, of the same network in float32, gives; of several samples the worst.
Result<ErrorReport> errorsAgainst(Engine& full, Engine& lowered, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop, const Progress& progress) {
  const Graph& graph = full.plan().graph();
  ErrorReport report;
  for (const Sample& sample : samples.list) {
    if (progress) progress("run", fmt::format("{} with the plan's types", sample.name));
    const auto actual = TRY(inSample(lowered.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    if (progress) progress("run", fmt::format("{} in float32", sample.name));
    const auto expected = TRY(inSample(full.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    report.samples.push_back({sample.name, compareAll(actual.outputs, expected.outputs, tolerance)});
    takeWorst(report.outputs, report.samples.back().outputs);
    takeWorst(report.values, compareValues(graph, actual, expected, tolerance));
  }
  std::set<std::string> compared;
  for (const TensorComparison& value : report.values) compared.insert(value.name);
  report.madeOf = valueSourcesIn(graph, compared);
  return report;
}

}  // namespace

std::vector<CompareGroup> compareGroups(const Cover& a, const Cover& b) {
  std::vector<CompareGroup> groups;
  for (CoverGroup& group : commonCover(a, b)) groups.push_back({std::move(group)});
  return groups;
}

Result<CompareReport> compareEngines(Engine& a, Engine& b, const Samples& samples, double seconds,
                                     const StopToken& stop, const Progress& progress) {
  const auto madeOfA = a.made(), madeOfB = b.made();
  CompareReport report;
  report.compilerOfA = compilerText(*madeOfA);
  report.compilerOfB = compilerText(*madeOfB);
  report.threadsOfA = a.threads();
  report.threadsOfB = b.threads();
  if (a.threads() != b.threads())
    report.notRanked =
        fmt::format("A runs on {}, B on {}", counted(a.threads(), "thread"), counted(b.threads(), "thread"));
  for (const auto& [side, engine] : {std::pair("A", &a), std::pair("B", &b)})
    if (const auto recorded = recordedJobOf(*findCompiler(engine->plan().options.compiler)))
      report.notRanked = fmt::format("{} was not timed here: {}", side, recorded->inWords());
  report.groups = compareGroups(*madeOfA, *madeOfB);
  for (const Sample& sample : samples.list) {
    if (progress) progress("run", fmt::format("both on {}", sample.name));
    const auto ofA = TRY(inSample(a.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    const auto ofB = TRY(inSample(b.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    takeWorst(report.outputs, compareAll(ofB.outputs, ofA.outputs, Tolerance::standard()));
    takeWorst(report.values, compareValues(a.plan().graph(), ofB, ofA, Tolerance::standard()));
  }
  report.valuesInBodies = valuesInBodies(*madeOfA, *madeOfB);
  if (seconds > 0) TRY(measureInterleaved(a, b, samples.first(), seconds, stop, progress, report));
  return report;
}

Result<ErrorReport> measureErrors(std::shared_ptr<const Plan> plan, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop, const Progress& progress) {
  if (progress) progress("plan", "the same network in float32");
  auto reference = TRY(makePlan(plan->model, withoutLoweredTypes(plan->options), nullptr, stop));
  BuildOptions options{.backend = "reference", .measureTactics = false, .stop = stop, .progress = progress};
  options.shapes = extentsOf(samples.first());
  const auto lowered = TRY(buildEngine(std::move(plan), options));
  const auto full = TRY(buildEngine(std::move(reference), options));
  return errorsAgainst(*full, *lowered, samples, tolerance, stop, progress);
}

Result<ErrorReport> measureErrors(const Artifact& artifact, const Samples& samples, const Tolerance& tolerance,
                                  const StopToken& stop, const Progress& progress) {
  if (artifact.isOurs()) return measureErrors(artifact.plan, samples, tolerance, stop, progress);
  BuildOptions options = buildOptions(artifact, 0, stop, progress);
  options.shapes = extentsOf(samples.first());
  const auto lowered = TRY(openEngine(artifact, options));
  const auto full = TRY(exactEngine(*artifact.plan, options));
  return errorsAgainst(*full, *lowered, samples, tolerance, stop, progress);
}

}  // namespace fusescope
