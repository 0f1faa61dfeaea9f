#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "planning/without_lowered_types.h"
#include "session/operations.h"
#include "session/samples.h"
#include "session/session.h"

namespace fusescope {
namespace {

/// Each engine is timed in this many short turns, A B A B …, so that what else the machine does meets both alike.
constexpr int kTurns = 5;
/// Of a turn's time, the part that goes to timing layers: the profiler's own cost is kept out of the totals.
constexpr double kLayersShare = 0.4;
constexpr double kFirstWarmup = 0.3;
constexpr double kLaterWarmup = 0.02;

std::optional<double> medianOf(std::vector<double> samples) {
  if (samples.empty()) return {};
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

/// A fused node of an engine: the body that it is in (CoveringNode::place), and its number in that plan.
using MeasuredNode = std::pair<BodyPath, FusedNodeId>;

/// What the turns of one engine measured.
struct Measured {
  std::vector<double> totals;
  std::map<MeasuredNode, std::vector<double>> layers;
  std::set<MeasuredNode> emulated;
  std::string unavailable;

  std::optional<double> total() const { return medianOf(totals); }
  /// The sum over fused nodes; one without a step of its own (a view of its input) takes no time.
  std::optional<double> sum(const std::vector<CoveringNode>& fusedNodes) const {
    return sumOf(fusedNodes, [](const std::vector<double>& turns) { return medianOf(turns).value_or(0); });
  }
  /// The same, of one turn alone.
  std::optional<double> sumInTurn(const std::vector<CoveringNode>& fusedNodes, std::size_t turn) const {
    return sumOf(fusedNodes, [&](const std::vector<double>& turns) { return turn < turns.size() ? turns[turn] : 0; });
  }

 private:
  template <class TimeOf>
  std::optional<double> sumOf(const std::vector<CoveringNode>& fusedNodes, TimeOf timeOf) const {
    if (!unavailable.empty() || totals.empty()) return {};
    double ms = 0;
    for (const CoveringNode& fused : fusedNodes) {
      if (emulated.contains({fused.place.bodies, fused.id})) return {};
      const auto found = layers.find({fused.place.bodies, fused.id});
      if (found != layers.end()) ms += timeOf(found->second);
    }
    return ms;
  }
};

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
    group.deltaRangeMs = rangeOver(turns, [&](std::size_t turn) {
      return std::optional(*b.sumInTurn(group.b, turn) - *a.sumInTurn(group.a, turn));
    });
  }
}

/// Those of the plan of the body at `path`.
void takeLayers(const std::vector<StepTime>& layers, const Plan& plan, const BodyPath& path, Measured& into) {
  for (const StepTime& layer : layers) {
    if (!layer.fused.valid()) continue;
    if (layer.emulated) into.emulated.insert({path, layer.fused});
    if (layer.medianMs) into.layers[{path, layer.fused}].push_back(*layer.medianMs);
    const NodeId holder = plan.fusedNodes[layer.fused.index].root;
    for (const BodyTimes& body : layer.bodies)
      takeLayers(body.steps, *plan.bodyPlan(holder, body.attribute),
                 path.into(plan.graph().node(holder), body.attribute), into);
  }
}

Status measureTurn(Engine& engine, const std::map<std::string, Tensor>& inputs, TimeOptions options, Measured& into) {
  options.perLayer = false;
  const double seconds = options.seconds;
  options.seconds = seconds * (1 - kLayersShare);
  const auto whole = TRY(engine.time(inputs, options));
  if (!whole.medianMs) {
    into.unavailable = whole.unavailableReason.empty() ? "the engine gave no time" : whole.unavailableReason;
    return Done{};
  }
  into.totals.push_back(*whole.medianMs);
  options.perLayer = true;
  options.seconds = seconds * kLayersShare;
  options.warmupSeconds = kLaterWarmup;
  const auto profiled = TRY(engine.time(inputs, options));
  takeLayers(profiled.layers, engine.plan(), {}, into);
  return Done{};
}

Status measureInterleaved(Engine& a, Engine& b, const std::map<std::string, Tensor>& inputs, double seconds,
                          const StopToken& stop, const Progress& progress, CompareReport& report) {
  Measured ofA, ofB;
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
std::set<ValueId> inMemory(const Plan& plan) {
  std::set<ValueId> values;
  for (const FusedNode& fused : plan.fusedNodes) {
    for (const FusedOutput& output : fused.outputs) values.insert(output.value);
    for (const InnerEdge& edge : fused.innerEdges)
      if (edge.real) values.insert(edge.value);
  }
  return values;
}

/// Values that both plans have in memory in their bodies. A body runs once for each call: which call's value would be
/// compared is nobody's to say, so they are counted.
std::int64_t valuesInBodies(const Plan& a, const Plan& b) {
  std::int64_t count = 0;
  for (const PlanLevel& level : planLevels(a, b)) {
    if (level.around < 0 || level.a == nullptr || level.b == nullptr) continue;
    const std::set<ValueId> ofB = inMemory(*level.b);
    for (const ValueId value : inMemory(*level.a))
      if (ofB.contains(level.match.valueOfB[value.index])) ++count;
  }
  return count;
}

}  // namespace

std::vector<CompareGroup> compareGroups(const Plan& a, const Plan& b) {
  std::vector<CompareGroup> groups;
  for (CoverGroup& group : commonCover(a, b)) groups.push_back({std::move(group)});
  return groups;
}

Result<CompareReport> compareEngines(Engine& a, Engine& b, const Samples& samples, double seconds,
                                     const StopToken& stop, const Progress& progress) {
  CompareReport report;
  report.groups = compareGroups(a.plan(), b.plan());
  for (const Sample& sample : samples.list) {
    if (progress) progress("run", fmt::format("both on {}", sample.name));
    const auto ofA = TRY(inSample(a.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    const auto ofB = TRY(inSample(b.run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    takeWorst(report.outputs, compareAll(ofB.outputs, ofA.outputs, Tolerance::standard()));
    takeWorst(report.values, compareValues(a.plan().graph(), ofB, ofA, Tolerance::standard()));
  }
  report.valuesInBodies = valuesInBodies(a.plan(), b.plan());
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
  ErrorReport report;
  for (const Sample& sample : samples.list) {
    if (progress) progress("run", fmt::format("{} with the plan's types", sample.name));
    const auto actual = TRY(inSample(lowered->run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    if (progress) progress("run", fmt::format("{} in float32", sample.name));
    const auto expected = TRY(inSample(full->run(sample.inputs, {"all"}, stop), sample, samples.list.size()));
    report.samples.push_back({sample.name, compareAll(actual.outputs, expected.outputs, tolerance)});
    takeWorst(report.outputs, report.samples.back().outputs);
    takeWorst(report.values, compareValues(full->plan().graph(), actual, expected, tolerance));
  }
  std::set<std::string> compared;
  for (const TensorComparison& value : report.values) compared.insert(value.name);
  report.madeOf = valueSourcesIn(full->plan().graph(), compared);
  return report;
}

}  // namespace fusescope
