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
#include "ir/graph.h"
#include "planning/body_cover.h"
#include "session/inputs/samples.h"
#include "verify/compare_values.h"

namespace fusescope {
namespace {

/// The engines are timed in this many short turns, A B A B …, so that other work on the machine affects both equally.
constexpr int kTurns = 5;
/// The share of a turn's time that is used to time layers. Totals are measured separately, because the profiler takes
/// time itself.
constexpr double kLayersShare = 0.4;
constexpr double kFirstWarmup = 0.3;
constexpr double kLaterWarmup = 0.02;

std::optional<double> medianOf(std::vector<double> samples) {
  return samples.empty() ? std::nullopt : std::optional(upperMedian(std::move(samples)));
}

/// A fused node of an engine: the body that contains it (CoveringNode::place), and its number in the plan of that body.
using MeasuredNode = std::pair<BodyPath, FusedNodeId>;

/// The measurements of one engine in all turns.
struct Measured {
  explicit Measured(const Cover& of) : made(of) {}

  const Cover& made;  ///< the cover of what the engine runs
  std::vector<double> totals;
  std::map<MeasuredNode, std::vector<double>> layers;
  std::set<MeasuredNode> emulated;
  std::string unavailable;
  std::string disturbed;  ///< other work that was noticed while a turn was measured; empty if there was none

  std::optional<double> total() const { return medianOf(totals); }
  /// Returns the sum of the times of fused nodes. One without a step of its own (a view of its input) takes no time.
  /// Returns nullopt if another compiler does not report the time of a kernel, because its part was timed as a whole.
  std::optional<double> sum(const std::vector<CoveringNode>& fusedNodes) const {
    return sumOf(fusedNodes, [](const std::vector<double>& turns) { return medianOf(turns); });
  }
  /// Returns the same sum for one turn.
  std::optional<double> sumInTurn(const std::vector<CoveringNode>& fusedNodes, std::size_t turn) const {
    return sumOf(fusedNodes, [&](const std::vector<double>& turns) {
      return turn < turns.size() ? std::optional(turns[turn]) : std::nullopt;
    });
  }
  /// Returns whether the time of the fused node can only be known if the compiler reports it, as for kernels of another
  /// compiler.
  bool mustBeReported(const CoveringNode& fused) const {
    const ReadBackPlan* readBack = asReadBack(made);
    if (readBack == nullptr) return false;
    if (!fused.place.bodies.isNetwork()) return true;
    const ReadBackPlan::Kernel& kernel = readBack->kernels[fused.id.index];
    return !kernel.isOurs && !kernel.once;
  }
  bool isTimeKnown(const CoveringNode& fused) const {
    return !mustBeReported(fused) || layers.contains({fused.place.bodies, fused.id});
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
      if (!one && mustBeReported(fused)) return {};
      ms += one.value_or(0);
    }
    return ms;
  }
};

/// Returns why some groups have no time although the engines have one; empty if all groups have times.
std::string whyTimesAreUnknown(const Measured& a, const Measured& b, const std::vector<CompareGroup>& groups) {
  const auto whyUnknown = [](const char* side, const Measured& measured, const std::vector<CoveringNode>& fusedNodes) {
    const auto isTimeUnknown = [&](const CoveringNode& fused) { return !measured.isTimeKnown(fused); };
    if (!measured.unavailable.empty() || std::ranges::none_of(fusedNodes, isTimeUnknown)) return std::string();
    return fmt::format("{}: {} does not report the time of each of its kernels", side,
                       asReadBack(measured.made)->compiler.name);
  };
  std::string ofA, ofB;
  for (const CompareGroup& group : groups) {
    if (ofA.empty()) ofA = whyUnknown("A", a, group.a);
    if (ofB.empty()) ofB = whyUnknown("B", b, group.b);
  }
  return ofA + (ofA.empty() || ofB.empty() ? "" : "; ") + ofB;
}

/// Returns the range of `measured(turn)` over the turns; nullopt if it is unknown for one of them.
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

/// Sets the totals, the times of the groups, and their ranges over the turns.
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
  report.groupsUnavailable = whyTimesAreUnknown(a, b, report.groups);
}

/// Adds the times of one turn: steps of the cover `made` of the body at `path`, and kernels of parts that another
/// compiler compiled.
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
    into.unavailable = whole.unavailableReason.empty() ? "the engine reported no time" : whole.unavailableReason;
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

/// Returns the values that a plan has in memory.
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

/// Counts the values in bodies that both plans have in memory. They are not compared, because there is one for each
/// call of the body.
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

/// Returns the compiler with its options: "onnxruntime 1.32.0, level=basic".
std::string compilerText(const Cover& made) {
  const ReadBackPlan* readBack = asReadBack(made);
  if (readBack == nullptr) return kOwnCompiler + std::string(" ") + std::string(kFusescopeVersion);
  std::string text = readBack->compiler.name + " " + readBack->compiler.version;
  for (const auto& [name, value] : readBack->compiler.options) text += ", " + name + "=" + value;
  return text;
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
  report.differences = comparedDifferences(*madeOfA, *madeOfB, a.threads(), b.threads());
  if (a.threads() != b.threads())
    report.notRanked =
        fmt::format("A runs on {}, B on {}", counted(a.threads(), "thread"), counted(b.threads(), "thread"));
  for (const auto& [side, engine] : {std::pair("A", &a), std::pair("B", &b)})
    if (const auto recorded = recordedJobOf(*findCompiler(engine->plan().options.compiler)))
      report.notRanked = fmt::format("{} was not measured here: {}", side, recorded->inWords());
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

}  // namespace fusescope
