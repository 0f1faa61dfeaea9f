#include "verify/verify_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/reference/reference_backend.h"
#include "engine/kernels/input_check.h"
#include "engine/program/boxed_values.h"
#include "engine/program/extent_check.h"
#include "engine/program/fused_extents.h"
#include "engine/steps/body_lowering.h"
#include "engine/steps/fused_node_steps.h"
#include "verify/body_calls.h"
#include "verify/kept_values.h"

namespace fusescope {
namespace {

using Extents = std::map<std::string, Dims>;

/// The network or a body.
struct Level {
  std::shared_ptr<const Plan> plan;
  BodyPath path;
};

/// What runs the fused nodes of a level at certain extents of its inputs.
struct LevelSteps {
  std::unique_ptr<FusedNodeSteps> quick, reference;
};

/// The name of a run that need not be distinguished from others.
constexpr const char* kOnlyRun = "given";

/// Returns `result`; its error names the run.
template <class T>
Result<T> inRun(Result<T> result, const std::string& run) {
  if (result.ok() || result.error().cancelled || run == kOnlyRun) return result;
  Diagnostic error = std::move(result).error();
  error.message = fmt::format("on {}: {}", run, error.message);
  return error;
}

Extents extentsOf(const Graph& graph, const GivenInputs& given) {
  Extents extents;
  for (std::size_t i = 0; i < given.values.size(); ++i)
    if (given.values[i].container() == Container::None)
      extents[graph.value(graph.inputs()[i]).name] = given.values[i].dims();
  return extents;
}

class Verifier {
 public:
  explicit Verifier(const VerifyOptions& options) : m_options(options) {}

  Result<VerifyReport> run(const std::shared_ptr<const Plan>& plan,
                           std::span<const std::map<std::string, Tensor>> samples) {
    for (std::size_t begin = 0; begin < samples.size();) {
      const Extents extents = TRY(inRun(checkInputs(*plan, samples[begin]), runOf(begin, samples.size())));
      const Level level{TRY(planAt(plan, extents, m_options.stop)), {}};
      const LevelSteps steps = TRY(stepsOf(level, extents));
      const std::size_t bytes = steps.quick->bytesInMemory();
      const std::size_t end = TRY(endOfStretch(*plan, samples, begin, extents, bytes, kMostKeptBytes));
      std::vector<GivenInputs> runs;
      for (; begin < end; ++begin) {
        GivenInputs& run = runs.emplace_back();
        run.name = runOf(begin, samples.size());
        for (const ValueId input : level.plan->graph().inputs())
          run.values.push_back(samples[begin].at(level.plan->graph().value(input).name));
      }
      TRY(verifyLevel(level, steps, runs));
    }
    return std::move(m_report);
  }

 private:
  /// Returns the name of the run on sample `i`.
  std::string runOf(std::size_t i, std::size_t samples) const {
    if (samples == 1) return kOnlyRun;
    return "sample " + (i < m_options.sampleNames.size() ? m_options.sampleNames[i] : std::to_string(i));
  }

  Result<LevelSteps> stepsOf(const Level& level, const Extents& extents) const {
    BuildOptions build{.backend = m_options.backend, .threads = m_options.threads, .stop = m_options.stop};
    LevelSteps steps;
    steps.quick = TRY(FusedNodeSteps::create(level.plan, extents, build));
    build.backend = kReferenceBackend;
    steps.reference = TRY(FusedNodeSteps::create(level.plan, extents, build));
    return steps;
  }

  /// `runs` have the extents for which `steps` are.
  Status verifyLevel(const Level& level, const LevelSteps& steps, const std::vector<GivenInputs>& runs) {
    KeptValues values;
    for (const FusedNode& fused : level.plan->fusedNodes)
      for (const ValueId input : fused.inputs) values.willUse(input);
    const std::vector<ValueId>& inputs = level.plan->graph().inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<Tensor> ofRuns;
      for (const GivenInputs& run : runs) ofRuns.push_back(run.values[i]);
      values.keep(inputs[i], std::move(ofRuns));
    }
    for (const FusedNode& fused : level.plan->fusedNodes) {
      TRY(checkStop(m_options.stop));
      if (m_options.progress) m_options.progress("verify", level.path.of(fused.name));
      std::vector<GivenInputs> given;
      for (std::size_t r = 0; r < runs.size(); ++r) {
        given.push_back({runs[r].name, {}});
        for (const ValueId input : fused.inputs) given.back().values.push_back(values.of(input)[r]);
      }
      TRY(verifyRegion(level, steps, fused, given));
      TRY(advance(level, steps, fused, given, values));
    }
    return Done{};
  }

  /// Computes the results of `fused` for the regions after it, and for its bodies. Results that are not floats are
  /// taken from the reference, because a wrong index would have no meaning there.
  Status advance(const Level& level, const LevelSteps& steps, const FusedNode& fused,
                 const std::vector<GivenInputs>& given, KeptValues& values) {
    const bool floats = std::ranges::all_of(fused.outputs, [](const FusedOutput& out) { return isFloat(out.type); });
    FusedNodeSteps& used = floats ? *steps.quick : *steps.reference;
    BodyCalls calls(used.plan(), fused.root);
    used.observeBodies(&calls);
    auto step = TRY(used.step(fused));
    std::vector<std::vector<Tensor>> made(fused.outputs.size());
    for (const GivenInputs& run : given) {
      calls.beginRun(run.name);
      auto outputs = TRY(inRun(step.run(run.values, m_options.stop), run.name));
      for (std::size_t i = 0; i < outputs.size(); ++i) made[i].push_back(std::move(outputs[i]));
    }
    used.release(std::move(step));
    used.observeBodies(nullptr);
    for (std::size_t i = 0; i < made.size(); ++i) values.keep(fused.outputs[i].value, std::move(made[i]));
    for (const ValueId input : fused.inputs) values.used(input);
    for (const CoverBody& body : level.plan->bodies)
      if (body.holder == fused.root) TRY(verifyBody(level, fused, body, calls, given));
    return Done{};
  }

  /// A branch that no run takes is verified on the inputs that it would get; it need not work on these.
  Status verifyBody(const Level& level, const FusedNode& holder, const CoverBody& body, const BodyCalls& calls,
                    const std::vector<GivenInputs>& given) {
    const Node& node = level.plan->graph().node(body.holder);
    const Level inside{std::static_pointer_cast<const Plan>(body.cover), level.path.into(node, body.attribute)};
    std::vector<GivenInputs> runs = calls.of(body.attribute);
    const bool taken = !runs.empty();
    if (!taken && !node.is("If")) {
      leaveOut(inside, "its body does not run on these inputs");
      return Done{};
    }
    if (!taken)
      for (const GivenInputs& run : given) runs.push_back(branchInputs(*level.plan, holder, body.attribute, run));
    Status status = verifyCalls(inside, std::move(runs));
    if (status.ok() || taken || status.error().cancelled) return status;
    leaveOut(inside,
             "its branch is not executed for these inputs, and running it on them fails: " + status.error().text());
    return Done{};
  }

  Status verifyCalls(const Level& level, std::vector<GivenInputs> calls) {
    std::map<Extents, std::vector<GivenInputs>> ofExtents;
    for (GivenInputs& call : calls) ofExtents[extentsOf(level.plan->graph(), call)].push_back(std::move(call));
    for (const auto& [extents, runs] : ofExtents) TRY(verifyLevel(level, TRY(stepsOf(level, extents)), runs));
    return Done{};
  }

  /// Records the reason for all regions of a body, and of the bodies in it, that were not reached.
  void leaveOut(const Level& level, const std::string& why) {
    for (const FusedNode& fused : level.plan->fusedNodes) {
      RegionVerdict& verdict = m_report.regions[placeOf(level, fused)];
      if (isNew(verdict)) verdict.notChecked = why;
      for (const CoverBody& body : level.plan->bodies) {
        if (body.holder != fused.root) continue;
        leaveOut({std::static_pointer_cast<const Plan>(body.cover),
                  level.path.into(level.plan->graph().node(body.holder), body.attribute)},
                 why);
      }
    }
  }

  /// Returns why there is no kernel of `fused` to verify; empty if there is one.
  static std::string whyNothing(const FusedNodeSteps& quick, const FusedNode& fused) {
    const Plan& plan = quick.plan();
    if (hasPlannedBodies(plan, fused)) return "it only runs its bodies, whose regions are verified";
    if (quick.requests().view(fused)) return "it is a view of its input, so no kernel runs";
    const Backend& backend = quick.backendOf(fused);
    if (backend.name() == kReferenceBackend) return "the reference runs it";
    if (!backend.device().isHost()) return "it does not run on the host";
    return {};
  }

  static bool isEmpty(const KernelRequest& request) {
    const auto none = [](const auto& value) { return elementCount(value.second.dims).value_or(0) == 0; };
    return std::ranges::any_of(request.values, none);
  }

  /// Returns the index of the verdict of `fused` in the report.
  std::size_t placeOf(const Level& level, const FusedNode& fused) {
    const auto [known, isNew] = m_places.emplace(NetworkPlace{level.path, fused.name}, m_report.regions.size());
    if (isNew) m_report.regions.push_back({.fusedNode = level.path.of(fused.name)});
    return known->second;
  }
  static bool isNew(const RegionVerdict& verdict) {
    return verdict.tactics.empty() && verdict.sameAs.empty() && verdict.notChecked.empty();
  }

  /// Returns the index of the first region with this code.
  Result<std::pair<std::size_t, bool>> firstOfCode(const KernelRequest& request, const Backend& backend,
                                                   std::size_t place) {
    auto code = TRY(m_store.code(backend, request, backend.tactics(request).front()));
    const auto [known, isFirst] = m_firstOfCode.emplace(std::move(code), place);
    return std::pair(known->second, isFirst);
  }

  Status verifyRegion(const Level& level, const LevelSteps& steps, const FusedNode& fused,
                      const std::vector<GivenInputs>& given) {
    const std::size_t place = placeOf(level, fused);
    if (auto why = whyNothing(*steps.quick, fused); !why.empty()) return leave(place, std::move(why));
    const KernelRequests& requests = steps.quick->requests();
    const auto why = whyDynamic(level.plan->graph(), requests.types(), fused);
    if (!why) return verifyAt(level, *steps.quick, requests, fused, given);
    KernelRequest request{.plan = level.plan.get(), .fused = &fused};
    TRY(requests.addConstants(request));
    const FusedExtents known = TRY(FusedExtents::prepare(request));
    std::map<std::vector<Dims>, std::vector<GivenInputs>> ofExtents;
    for (const GivenInputs& run : given)
      if (auto extents = known.infer(run.values)) ofExtents[std::move(*extents)].push_back(run);
    if (ofExtents.empty()) return leave(place, "the reference runs it, because " + *why);
    for (const auto& [extents, runs] : ofExtents)
      TRY(verifyAt(level, *steps.quick, requests.at(known.values(), extents), fused, runs));
    return Done{};
  }

  /// `given` have the extents of `requests`.
  Status verifyAt(const Level& level, const FusedNodeSteps& quick, const KernelRequests& requests,
                  const FusedNode& fused, const std::vector<GivenInputs>& given) {
    const std::size_t place = placeOf(level, fused);
    const Backend& backend = quick.backendOf(fused);
    const KernelRequest request = TRY(requests.of(fused));
    if (isEmpty(request)) return leave(place, "one of its inputs or outputs has no elements");
    const auto [first, isFirst] = TRY(firstOfCode(request, backend, place));
    RegionVerdict& verdict = m_report.regions[place];
    verdict.notChecked.clear();
    if (first != place) {
      const RegionVerdict& other = m_report.regions[first];
      if (verdict.tactics.empty()) verdict.sameAs = other.fusedNode;
      verdict.ok = verdict.ok && other.ok;
      verdict.maxOverRms = std::max(verdict.maxOverRms, other.maxOverRms);
      return Done{};
    }
    std::vector<RegionCase> cases;
    for (const GivenInputs& run : given) cases.push_back(givenCase(request, run.name, run.values));
    if (isFirst)
      for (RegionCase& made : madeCases(request, given.front().values, m_options.seeds))
        cases.push_back(std::move(made));
    RegionCheck check = TRY(checkRegion(backend, request, cases, m_store, m_options.stop));
    add(verdict, std::move(check.tactics));
    if (verdict.tactics.empty()) verdict.notChecked = "the backend has no kernel for it, so the reference runs it";
    if (!check.failure) return Done{};
    const bool isMoreSpecific = !m_report.mismatch || (m_report.mismatch->failure.isEdge && !check.failure->isEdge);
    if (isMoreSpecific) TRY(explain(level, requests, fused, backend, std::move(*check.failure)));
    return Done{};
  }

  Status leave(std::size_t place, std::string why) {
    if (isNew(m_report.regions[place])) m_report.regions[place].notChecked = std::move(why);
    return Done{};
  }

  /// Adds the checks of other runs of the same region, or of the region at other extents.
  static void add(RegionVerdict& verdict, std::vector<TacticCheck> checks) {
    verdict.sameAs.clear();
    for (TacticCheck& check : checks) {
      verdict.ok = verdict.ok && check.ok;
      verdict.maxOverRms = std::max(verdict.maxOverRms, check.maxOverRms);
      const auto known = std::ranges::find(verdict.tactics, check.name, &TacticCheck::name);
      if (known == verdict.tactics.end()) {
        verdict.tactics.push_back(std::move(check));
        continue;
      }
      known->ok = known->ok && check.ok;
      if (check.maxOverRms > known->maxOverRms) {
        known->maxOverRms = check.maxOverRms;
        known->worstCase = check.worstCase;
        known->isWide = check.isWide;
      }
      if (known->note.find(check.note) == std::string::npos)
        known->note += (known->note.empty() ? "" : "; ") + check.note;
    }
  }

  Status explain(const Level& level, const KernelRequests& requests, const FusedNode& fused, const Backend& backend,
                 RegionFailure failure) {
    auto smallest = TRY(minimalFailure(*level.plan, requests, fused, failure.inputs, backend, m_store, m_options.stop));
    if (smallest)
      for (std::string& node : smallest->nodes) node = level.path.of(node);
    m_report.mismatch = Mismatch{level.path.of(fused.name), std::move(failure), std::move(smallest)};
    return Done{};
  }

  const VerifyOptions& m_options;
  KernelStore m_store;
  std::map<NetworkPlace, std::size_t> m_places;  ///< the index of each fused node's verdict
  /// For each code, the index of the first region that it runs.
  std::map<std::shared_ptr<const Code>, std::size_t> m_firstOfCode;
  VerifyReport m_report;
};

}  // namespace

Result<VerifyReport> verifyRegions(std::shared_ptr<const Plan> plan,
                                   std::span<const std::map<std::string, Tensor>> samples,
                                   const VerifyOptions& options) {
  return Verifier(options).run(plan, samples);
}

}  // namespace fusescope
