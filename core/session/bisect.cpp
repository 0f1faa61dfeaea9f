#include "session/bisect.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>

#include "base/text.h"
#include "compilers/compile_network.h"
#include "compilers/probed/optimiser_steps.h"
#include "engine/kernels/input_check.h"
#include "ir/graph.h"
#include "planning/draft_plan.h"
#include "planning/types/without_lowered_types.h"
#include "session/build_and_run.h"
#include "session/documents/layer_error_report.h"
#include "session/exact_engine.h"
#include "tuning/deadline.h"
#include "tuning/pinnable_nodes.h"
#include "verify/tensor_error.h"

namespace fusescope {
namespace {

constexpr const char* kHint = "hint";
constexpr const char* kExactHint = "f32";

/// The things of one kind that can be switched off, and the plan options that switch them off.
struct Switches {
  std::string what;
  std::vector<std::string> names;
  std::function<void(const SwitchSet& off, PlanOptions& options)> apply;
  std::function<std::vector<std::string>(const SwitchSet& off)> asOptions;
};

std::size_t nodesInFallback(const Plan& plan) {
  std::size_t nodes = 0;
  for (const Segment& segment : plan.segments)
    if (segment.kind == SegmentKind::Fallback) nodes += segment.nodes.size();
  return nodes;
}

class Bisection {
 public:
  Bisection(const Artifact& artifact, const Samples& samples, const BisectOptions& options)
      : m_artifact(artifact), m_samples(samples), m_options(options), m_deadline(options.stop) {
    if (options.seconds > 0) m_deadline.stopAfter(options.seconds);
  }

  Result<BisectReport> run() {
    const auto begin = std::chrono::steady_clock::now();
    TRY(calculateExpected());
    m_report.before = TRY(errorWith(m_artifact.plan->options));
    if (m_report.before <= m_options.tolerance) {
      m_report.end = CulpritEnd::NotWrong;
    } else {
      Status searched = searchAll();
      const bool isEnded = !searched.ok() && searched.error().cancelled;
      if (isEnded) m_report.end = CulpritEnd::OutOfBudget;
      if (!isEnded) TRY(std::move(searched));
    }
    m_report.builds = m_builds;
    m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(m_report);
  }

 private:
  const Plan& plan() const { return *m_artifact.plan; }
  BuildOptions buildOptionsNow() const {
    BuildOptions build = buildOptions(m_artifact, m_options.threads, m_deadline.token(), m_options.progress);
    build.shapes = extentsOf(m_samples.first());
    build.measureTactics = false;
    return build;
  }

  Status calculateExpected() {
    BuildOptions build = buildOptionsNow();
    build.stop = m_options.stop;
    const auto exact = TRY(exactEngine(plan(), build));
    for (const Sample& sample : m_samples.list)
      m_expected.push_back(
          TRY(inSample(exact->run(sample.inputs, {}, build.stop), sample, m_samples.list.size())).outputs);
    return Done{};
  }

  Result<std::shared_ptr<const Plan>> planned(PlanOptions options) const {
    options.support.reset();
    assignIds(options.directives);
    auto made = TRY(makePlan(unquantized(plan().model), options, nullptr, m_deadline.token()));
    return planSupported(m_artifact.compiler(), std::move(made), m_deadline.token());
  }

  Result<double> errorWith(const PlanOptions& options) {
    ++m_builds;
    const BuildOptions build = buildOptionsNow();
    if (m_options.progress) m_options.progress(kBisectPhase, fmt::format("build {}", m_builds));
    const auto engine = TRY(compileNetwork(m_artifact.compiler(), TRY(planned(options)), build));
    // Nodes on which the compiler gives up are calculated by our own engine. They are then right, but this shows
    // nothing.
    const std::size_t fallen = nodesInFallback(engine->plan());
    if (m_builds == 1) m_fallen = fallen;
    if (fallen > m_fallen) return INFINITY;
    double worst = 0;
    for (std::size_t i = 0; i < m_samples.list.size(); ++i) {
      const Sample& sample = m_samples.list[i];
      const auto result = TRY(inSample(engine->run(sample.inputs, {}, build.stop), sample, m_samples.list.size()));
      for (const auto& [name, exact] : m_expected[i]) {
        const auto given = result.outputs.find(name);
        if (given == result.outputs.end() || !TensorErrorSums::comparable(given->second, exact)) continue;
        TensorErrorSums sums;
        sums.add(given->second, exact, given->second.type());
        worst = std::max(worst, largestOverRms(sums.error()));
      }
    }
    return worst;
  }

  /// Returns the builds that findCulprits() may still use. It first asks for the unchanged plan, which was built
  /// before.
  std::int64_t buildsLeft() const {
    return m_options.builds == 0 ? 0 : std::max<std::int64_t>(1, m_options.builds - m_builds) + 1;
  }
  bool isOver() const {
    return m_deadline.token().stop_requested() || (m_options.builds > 0 && m_builds >= m_options.builds);
  }

  Status searchAll() {
    const auto switches = optimiserSwitchesOf(m_artifact.compiler());
    if (switches) TRY(searchOptimisers(*switches));
    if (m_artifact.isOurs()) TRY(search(rules()));
    TRY(searchHint());
    if (!isDone()) TRY(search(TRY(types())));
    return Done{};
  }

  bool isDone() const { return m_report.end == CulpritEnd::Found || m_report.end == CulpritEnd::OutOfBudget; }

  /// Searches one kind, unless a culprit is known already.
  Status search(const Switches& switches) {
    if (isDone() || switches.names.empty()) return Done{};
    if (isOver()) {
      m_report.end = CulpritEnd::OutOfBudget;
      return Done{};
    }
    const PlanOptions& given = plan().options;
    BisectStage stage{.what = switches.what, .switches = switches.names, .found = {}};
    stage.found =
        TRY(findCulprits(static_cast<std::uint32_t>(switches.names.size()),
                         [&](const SwitchSet& off) -> Result<double> {
                           if (off.empty()) return m_report.before;
                           PlanOptions options = given;
                           switches.apply(off, options);
                           return errorWith(options);
                         },
                         {.tolerance = m_options.tolerance, .builds = buildsLeft(), .stop = m_deadline.token()}));
    --stage.found.builds;
    m_report.end = stage.found.end;
    if (m_report.end == CulpritEnd::Found) {
      m_report.options = switches.asOptions(stage.found.off);
      m_report.without = given;
      m_report.without->support.reset();
      switches.apply(stage.found.off, *m_report.without);
      assignIds(m_report.without->directives);
    }
    m_report.stages.push_back(std::move(stage));
    return Done{};
  }

  /// Tries the levels from the lowest on, up to the first that is wrong, and then the steps that the plan's level
  /// takes.
  Status searchOptimisers(const OptimiserSwitches& by) {
    const PlanOptions& given = plan().options;
    const auto asked = given.compilerOptions.find(by.level);
    const std::string own = asked == given.compilerOptions.end() ? by.levels.back() : asked->second;
    for (const std::string& level : by.levels) {
      if (level == own || isOver()) break;
      PlanOptions options = given;
      options.compilerOptions[by.level] = level;
      m_report.levels.push_back({level, TRY(errorWith(options))});
      if (m_report.levels.back().error > m_options.tolerance) break;
    }
    if (isOver()) {
      m_report.end = CulpritEnd::OutOfBudget;
      return Done{};
    }
    // If the result is wrong at the lowest level of optimisation, optimisers are not the cause.
    if (!m_report.levels.empty() && m_report.levels.front().error > m_options.tolerance) return Done{};
    const auto steps = TRY(stepsWith(given));
    Switches switches{.what = "optimisers", .names = {}, .apply = {}, .asOptions = {}};
    for (const OptimiserStep& step : steps)
      if (step.changed) switches.names.push_back(step.name);
    switches.apply = [&](const SwitchSet& off, PlanOptions& options) {
      std::vector<std::string> left;
      if (const std::string already = options.compilerOptions[by.disable]; !already.empty()) left.push_back(already);
      for (const std::uint32_t each : off) left.push_back(switches.names[each]);
      options.compilerOptions[by.disable] = joined(left, ",");
    };
    switches.asOptions = [&](const SwitchSet& off) {
      PlanOptions options = given;
      switches.apply(off, options);
      return std::vector<std::string>{"--compiler-option", by.disable + "=" + options.compilerOptions[by.disable]};
    };
    TRY(search(switches));
    if (m_report.end == CulpritEnd::Found) m_report.honoured = TRY(areLeftOut(switches));
    return Done{};
  }

  Result<std::vector<OptimiserStep>> stepsWith(const PlanOptions& options) {
    const auto made = TRY(planned(options));
    const auto extents = TRY(buildExtents(*made, extentsOf(m_samples.first())));
    return optimiserSteps(m_artifact.compiler(), made, extents, buildOptionsNow());
  }

  /// Returns whether the compiler reports that the steps were left out.
  Result<bool> areLeftOut(const Switches& switches) {
    PlanOptions options = plan().options;
    const SwitchSet& off = m_report.stages.back().found.off;
    switches.apply(off, options);
    const auto steps = TRY(stepsWith(options));
    return std::ranges::none_of(off, [&](std::uint32_t each) {
      const auto taken = std::ranges::find(steps, switches.names[each], &OptimiserStep::name);
      return taken != steps.end() && taken->changed;
    });
  }

  /// Returns the fusion rules that made kernels of the plan.
  Switches rules() const {
    std::set<std::string> names;
    for (const FusedNode& fused : plan().fusedNodes)
      if (!fused.rule.empty()) names.insert(fused.rule);
    Switches switches{.what = "fusion rules", .names = {names.begin(), names.end()}, .apply = {}, .asOptions = {}};
    const std::vector<std::string> list = switches.names;
    switches.apply = [list](const SwitchSet& off, PlanOptions& options) {
      for (const std::uint32_t each : off)
        options.directives.push_back({.kind = DirectiveKind::NoFuse, .rule = list[each]});
    };
    switches.asOptions = [list](const SwitchSet& off) {
      std::vector<std::string> words;
      for (const std::uint32_t each : off) words.insert(words.end(), {"--no-fuse", list[each]});
      return words;
    };
    return switches;
  }

  /// Tries a type for the whole network if its compiler has an option for that.
  Status searchHint() {
    const auto options = m_artifact.compiler().options();
    const auto hint = std::ranges::find(options, kHint, &CompilerOption::name);
    if (hint == options.end() || std::ranges::count(hint->values, kExactHint) == 0) return Done{};
    TRY(search({.what = "the hint",
                .names = {kHint},
                .apply = [](const SwitchSet&, PlanOptions& options) { options.compilerOptions[kHint] = kExactHint; },
                .asOptions =
                    [](const SwitchSet&) {
                      return std::vector<std::string>{"--compiler-option", fmt::format("{}={}", kHint, kExactHint)};
                    }}));
    // Knowing which nodes need the type is more useful than knowing that the hint helps, so types are searched too. If
    // all nodes are needed, the hint is the answer.
    if (m_report.end != CulpritEnd::Found) return Done{};
    const BisectStage ofHint = m_report.stages.back();
    const std::vector<std::string> words = m_report.options;
    const std::optional<PlanOptions> without = m_report.without;
    m_report.end = CulpritEnd::NoCulprit;
    TRY(search(TRY(types())));
    const BisectStage& ofTypes = m_report.stages.back();
    const bool isAll = ofTypes.found.off.size() == ofTypes.switches.size();
    if (m_report.end == CulpritEnd::Found && !isAll) return Done{};
    if (m_report.end == CulpritEnd::NoCulprit) m_report.end = CulpritEnd::Found;
    m_report.stages.push_back(ofHint);
    m_report.options = words;
    m_report.without = without;
    return Done{};
  }

  /// Returns the nodes that the plan lowers. If a hint lowers the network, returns every node that the plan has in f32.
  Result<Switches> types() {
    const Plan& lowered = plan();
    const PlanOptions& given = lowered.options;
    Directives pins;
    const auto hint = given.compilerOptions.find(kHint);
    const bool isHinted =
        hint != given.compilerOptions.end() && dataTypeFromName(hint->second).has_value() && hint->second != kExactHint;
    if (isHinted) {
      for (const PrecisionGrant& grant : lowered.precisionMap)
        if (grant.granted == DataType::F32 && grant.asked == DataType::Undefined)
          pins.push_back(
              {.kind = DirectiveKind::Pin, .pattern = lowered.graph().node(grant.node).name, .type = DataType::F32});
    } else {
      const auto exact =
          TRY(draftPlan(lowered.model, withoutLoweredTypes(given), nullptr, m_deadline.token(), &lowered));
      const Pinnable pinnable = TRY(pinnableNodes(lowered, *exact));
      for (const PinnableNode& node : pinnable.nodes)
        pins.push_back({.kind = DirectiveKind::Pin, .pattern = node.pattern, .type = node.exact});
    }
    Switches switches{.what = "types of nodes", .names = {}, .apply = {}, .asOptions = {}};
    for (const Directive& pin : pins) switches.names.push_back(pin.pattern);
    switches.apply = [pins](const SwitchSet& off, PlanOptions& options) {
      for (const std::uint32_t each : off) options.directives.push_back(pins[each]);
    };
    switches.asOptions = [pins](const SwitchSet& off) {
      std::vector<std::string> words;
      for (const std::uint32_t each : off)
        words.insert(words.end(),
                     {"--pin", fmt::format("{}={}", pins[each].pattern, fusescope::name(pins[each].type))});
      return words;
    };
    return switches;
  }

  const Artifact& m_artifact;
  const Samples& m_samples;
  const BisectOptions& m_options;
  Deadline m_deadline;
  std::vector<std::map<std::string, Tensor>> m_expected;
  std::int64_t m_builds = 0;
  std::size_t m_fallen = 0;  ///< nodes in fallback in the unchanged plan
  BisectReport m_report;
};

}  // namespace

Result<BisectReport> bisectErrors(const Artifact& artifact, const Samples& samples, const BisectOptions& options) {
  return Bisection(artifact, samples, options).run();
}

Json toJson(const BisectReport& report, const Artifact& artifact, const Samples& samples,
            const BisectOptions& options) {
  Json json{{"format", "fusescope.bisect"}, {"version", 1}};
  addSamples(json, samples);
  json["compiler"] = artifact.plan->options.compiler;
  json["tolerance"] = options.tolerance;
  json.update(toJson(report));
  return json;
}

}  // namespace fusescope
