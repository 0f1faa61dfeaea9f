#include "session/refit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/structural_key.h"
#include "base/text.h"
#include "base/version.h"
#include "compilers/limits.h"
#include "engine/engine_file.h"
#include "engine/kernels/plan_backend.h"
#include "engine/tactics/tactic_chooser.h"
#include "ir/graph.h"
#include "planning/cover_json.h"
#include "planning/plan_json.h"
#include "session/build_and_run.h"
#include "session/open_artifact.h"
#include "session/open_model.h"
#include "session/refit_ranges.h"
#include "session/same_structure.h"

namespace fusescope {
namespace {

Diagnostic isNoEngine(const std::string& path) {
  return {.message = "is not an engine, so there is nothing to refit",
          .where = {.file = path},
          .help = "fusescope build makes an engine of a model."};
}

/// Returns the name of the first entry that is not in both lists; empty if there is none or one of them is not a list.
std::string firstOther(const Json& then, const Json& now) {
  const auto nameIn = [](const Json& entry) {
    for (const char* key : {"name", "node", "value"})
      if (entry.is_object() && entry.contains(key) && entry[key].is_string()) return entry[key].get<std::string>();
    return std::string();
  };
  if (!then.is_array() || !now.is_array()) return {};
  for (std::size_t i = 0; i < std::max(then.size(), now.size()); ++i) {
    if (i >= now.size()) return nameIn(then[i]);
    if (i >= then.size() || then[i] != now[i]) return nameIn(now[i]);
  }
  return {};
}

/// Returns the messages of decisions of `now` that `then` does not have, if they refuse something or are about
/// quantisation. They say why weights lead to another plan.
std::vector<std::string> newReasons(const Plan& then, const Plan& now) {
  constexpr std::size_t kMost = 3;
  std::set<std::string> before;
  const auto text = [](const Decision& decision) {
    std::string subject = decision.subjects.empty() ? std::string() : decision.subjects.front().text() + ": ";
    return subject + message(decision);
  };
  for (const Decision& decision : then.decisions) before.insert(text(decision));
  std::vector<std::string> reasons;
  for (const Decision& decision : now.decisions)
    if (!decision.allowed && reasons.size() < kMost && !before.contains(text(decision)))
      reasons.push_back(fmt::format("{} ({})", text(decision), decision.code));
  return reasons;
}

/// `before` is the JSON of `then`.
std::vector<Diagnostic> planDifferences(const Plan& then, const Json& before, const Plan& now) {
  std::vector<Diagnostic> differences;
  const Json after = toJson(now);
  for (const std::string& part : differingParts(before, after)) {
    const std::string first = firstOther(decidedPart(before, part), decidedPart(after, part));
    const std::vector<std::string> reasons = newReasons(then, now);
    differences.push_back({.message = fmt::format("with these weights the plan has a different {}{}", part,
                                                  reasons.empty() ? std::string() : ": " + joined(reasons, "; ")),
                           .where = {.file = now.model->path, .node = first, .attribute = part},
                           .help = "Tactics of the engine's plan do not fit another plan: build a new engine."});
  }
  return differences;
}

/// The fused nodes whose code may contain numbers that have changed (axes, shapes, scales and similar constants), by
/// the identity under which their tactics are stored, with the names of these constants. Both plans decide alike.
class OtherNumbers {
 public:
  OtherNumbers(const Plan& then, const Plan& now) { add(then, now, {}); }

  const std::vector<std::string>* of(const Hash128& identity) const {
    const auto found = m_changed.find(identity);
    return found == m_changed.end() ? nullptr : &found->second;
  }

 private:
  void add(const Plan& then, const Plan& now, const BodyPath& path) {
    for (std::size_t i = 0; i < now.fusedNodes.size(); ++i) {
      std::vector<std::string> names;
      for (const NodeId node : now.fusedNodes[i].nodes)
        for (const ValueId value : operands(now.graph().node(node)))
          if (value.valid() && isOther(then.graph(), now.graph(), value))
            names.push_back(now.graph().value(value).name);
      if (!names.empty()) m_changed.emplace(tacticIdentity(path, now.fusedNodes[i]), std::move(names));
    }
    for (std::size_t i = 0; i < std::min(then.bodies.size(), now.bodies.size()); ++i) {
      const CoverBody& body = now.bodies[i];
      add(plannedBody(then.bodies[i]), plannedBody(body),
          path.into(now.graph().node(body.holder).name, body.attribute));
    }
  }

  static bool isOther(const Graph& then, const Graph& now, ValueId value) {
    const Tensor* constant = now.constantData(value);
    if (constant == nullptr || !isStructural(*constant)) return false;
    const auto before = then.findValue(now.value(value).name);
    const Tensor* former = before ? then.constantData(*before) : nullptr;
    return former == nullptr || !constant->identical(*former);
  }

  std::map<Hash128, std::vector<std::string>> m_changed;
};

/// Returns whether a kernel runs by the same tactic as before. Files of earlier versions contain only names of tactics.
bool isSame(const TacticChoice& before, const TacticChoice& now) {
  return before.tactic && now.tactic ? *before.tactic == *now.tactic : before.chosen == now.chosen;
}

/// Takes over the tactics of the engine, with their times if these were measured of the same code on the same kind of
/// machine.
void takeTactics(const EngineFile& former, const OtherNumbers& others, Refit& refit) {
  std::map<Hash128, const TacticChoice*> known;
  for (const TacticChoice& choice : former.tactics) known[choice.identity] = &choice;
  const bool isHere = former.fingerprint == refit.file.fingerprint;
  std::int64_t leftOut = 0;
  for (TacticChoice& choice : refit.file.tactics) {
    const auto found = known.find(choice.identity);
    const bool isKept = found != known.end() && isSame(*found->second, choice);
    ++(isKept ? refit.anew.kernels : refit.anew.chosenAnew);
    const std::vector<std::string>* names = others.of(choice.identity);
    if (names != nullptr) {
      ++refit.anew.codeOfNumbers;
      refit.decisions.push_back(decide("build.other_numbers",
                                       {Subject::fusedNode(choice.fusedNode, choice.identity.hex())}, "refit",
                                       {{"constants", joined(*names)}}));
    }
    if (!isKept) continue;
    bool hasTime = false;
    for (TacticTime& candidate : choice.candidates)
      for (const TacticTime& time : found->second->candidates)
        if (time.name == candidate.name && time.ms) {
          hasTime = true;
          if (isHere && names == nullptr) candidate.ms = time.ms;
        }
    if (hasTime) ++(isHere && names == nullptr ? refit.timesKept : leftOut);
  }
  if (refit.timesKept > 0) {
    refit.file.timesWithWeightsOf =
        former.timesWithWeightsOf.empty() ? former.plan->model->path : former.timesWithWeightsOf;
    refit.decisions.push_back(decide("build.times_of_other_weights", {}, "refit",
                                     {{"count", refit.timesKept}, {"model", refit.file.timesWithWeightsOf}}));
  }
  if (leftOut > 0 && !isHere)
    refit.decisions.push_back(decide("build.times_of_other_machine", {}, "refit", {{"count", leftOut}}));
}

/// Records that the engine's plan was made again by other rules when it was opened, so that the new engine has that
/// plan.
void noteReplanned(const Plan& plan, Refit& refit) {
  for (const Decision& decision : plan.decisions)
    if (decision.code == "build.replanned") refit.decisions.push_back(decision);
}

/// Adds to the difference that another version of Fusescope may have simplified the network differently.
void noteOtherVersion(const EngineFile& engine, Diagnostic& difference) {
  if (engine.fusescopeVersion != kFusescopeVersion)
    difference.help += fmt::format(
        " The engine was built by Fusescope {}, which may have simplified the same network "
        "to another one.",
        engine.fusescopeVersion);
}

/// Returns the network as an artifact that openEngine() prepares with the engine's tactics.
Artifact artifactOf(const EngineFile& former, std::shared_ptr<const Plan> plan, const std::string& path) {
  Artifact artifact{.kind = ArtifactKind::Engine, .path = path, .plan = std::move(plan)};
  artifact.backend = former.backend;
  artifact.files = identitiesOf(artifact.plan->model->files);
  artifact.engine =
      EngineFile{.path = path,
                 .plan = artifact.plan,
                 .made = nullptr,
                 .backend = former.backend,
                 .fusescopeVersion = former.fusescopeVersion,
                 .fingerprint = acceleratedBackendOf(*planRunBy(artifact.plan, former.backend)).fingerprint().text(),
                 .extents = former.extents,
                 .tactics = former.tactics};
  return artifact;
}

Status build(const Artifact& engine, const Artifact& artifact, const RefitOptions& options, Refit& refit) {
  KernelStore& kernels = options.kernels != nullptr ? *options.kernels : KernelStore::ofProcess();
  const KernelStore::Counts before = kernels.counts();
  BuildOptions build = buildOptions(artifact, options.threads, options.stop, options.progress);
  build.measureTactics = false;
  build.kernels = &kernels;
  build.packsWeights = false;
  refit.made = TRY(openEngine(artifact, build));
  const KernelStore::Counts after = kernels.counts();
  refit.anew.code = after.compiled - before.compiled;
  refit.file = *artifact.engine;
  refit.file.tactics = refit.made->report().tactics;
  takeTactics(*engine.engine, OtherNumbers(*engine.plan, *artifact.plan), refit);
  for (const Decision& decision : refit.made->report().decisions) refit.decisions.push_back(decision);
  return Done{};
}

/// Returns whether an earlier answer was found for every segment that the other compiler compiles. One answer is enough
/// for segments that are equal. Only what is said depends on it.
bool areAnswersFound(const Plan& plan, const std::vector<Decision>& decisions) {
  const auto found = std::ranges::count(decisions, "cache.found", &Decision::code);
  auto compiled = std::ranges::count(plan.segments, SegmentKind::Accelerated, &Segment::kind);
  for (const Decision& decision : decisions)
    if (decision.code == "partition.equal_segments") compiled -= std::ssize(decision.subjects) - 1;
  return found > 0 && found >= compiled;
}

/// Lets another compiler compile the network with the new weights: none of them can change the weights of what it
/// compiled on this machine. `plan` is the engine's plan for that network, so that the compiler has the same options
/// and is not asked again which nodes it accepts.
Status compileAgain(const Artifact& engine, std::shared_ptr<const Plan> plan, const RefitOptions& options,
                    Refit& refit) {
  const Compiler& compiler = engine.compiler();
  TRY(compiler.awaitReady(options.stop, options.progress));
  TRY(checkAble(compiler, Ability::Keep, "keep an engine"));
  Artifact artifact{.kind = ArtifactKind::Model, .path = refit.weights, .plan = std::move(plan)};
  artifact.backend = engine.backend;
  artifact.files = identitiesOf(artifact.plan->model->files);
  BuildOptions build = buildOptions(artifact, options.threads, options.stop, options.progress);
  build.shapes = engine.engine->extents;
  build.onlyMade = true;  // nothing runs: the engine file has the plan and what was made of it
  build.packsWeights = false;
  refit.made = TRY(openEngine(artifact, build));
  refit.file.path = refit.weights;
  refit.file.plan = artifact.plan;
  refit.compiledAgain = whyNoRefit(compiler);
  refit.areAnswersFound = areAnswersFound(*artifact.plan, refit.made->report().decisions);
  if (!refit.areAnswersFound)
    refit.decisions.push_back(
        decide("build.compiled_again", {}, "refit", {{"compiler", compiler.name()}, {"why", *refit.compiledAgain}}));
  append(refit.decisions, refit.made->report().decisions);
  return Done{};
}

/// If the network differs in nothing but weights and names, gives it the names of the engine's network, so that the
/// directives, types and tactics of the engine, which name nodes, stay true. An export of a tuned model may number its
/// nodes in another way.
void takeNames(const Model& former, std::shared_ptr<const Model>& model, Refit& refit) {
  const RenamedNetwork renamed = withNamesOf(former, *model);
  if (renamed.model == nullptr) return;
  WeightsComparison compared = compareExceptWeights(former, *renamed.model);
  if (!compared.isSameNetwork()) return;
  refit.network = std::move(compared);
  model = renamed.model;
  refit.decisions.push_back(decide("build.names_of_engine", {}, "refit", {{"count", renamed.nodes}}));
}

}  // namespace

Status Refit::save(const std::filesystem::path& path) const {
  return compiledAgain ? made->save(path) : writeEngineFile(path, file);
}

Result<Artifact> openToRefit(const std::filesystem::path& path, const Progress& progress) {
  if (TRY(artifactKind(path)) != ArtifactKind::Engine) return isNoEngine(path.string());
  if (progress) progress("read engine", path.filename().string());
  Artifact artifact{.kind = ArtifactKind::Engine, .path = path.string()};
  artifact.engine = TRY(openEngineFile(path, nullptr, WeightCheck::Small));
  artifact.plan = artifact.engine->plan;
  artifact.made = artifact.engine->made;
  artifact.backend = artifact.engine->backend;
  TRY(compilerFor(artifact.plan->options));
  artifact.files = identitiesOf(artifact.plan->model->files);
  TRY(checkCurrent(artifact.plan->model->files));
  return artifact;
}

Result<Refit> refitEngine(const Artifact& engine, const std::filesystem::path& weights, const RefitOptions& options) {
  if (!engine.engine) return isNoEngine(engine.path);
  if (isEngineFile(weights))
    return Diagnostic{.message = "is an engine, but new weights are given as a network",
                      .where = {.file = weights.string(), .attribute = "--weights"},
                      .help = "Give the model that contains them."};
  const auto report = [&](std::string_view phase) {
    if (options.progress) options.progress(phase, weights.filename().string());
  };
  const Model& former = *unquantized(engine.plan->model);
  Refit refit{.engine = engine.path, .weights = weights.string()};
  auto model = TRY(openModel(weights, givenExtents(former.inputSpecs), options.stop, options.progress));
  report("compare");
  refit.network = compareExceptWeights(former, *model);
  if (!refit.network.isSameNetwork() && engine.isOurs()) takeNames(former, model, refit);
  if (!refit.network.isSameNetwork()) {
    noteOtherVersion(*engine.engine, refit.network.differences.front());
    return refit;
  }
  TRY(checkStop(options.stop));
  report("plan");
  const Json before = toJson(*engine.plan);
  const auto plan = TRY(remakePlan(model, before));
  if (!engine.isOurs()) {
    TRY(compileAgain(engine, plan, options, refit));
    return refit;
  }
  refit.planDifferences = planDifferences(*engine.plan, before, *plan);
  if (!refit.planDifferences.empty()) return refit;
  noteReplanned(*engine.plan, refit);
  append(refit.decisions, TRY(rangesAgainstWeights(*plan, options.stop)));
  TRY(build(engine, artifactOf(*engine.engine, plan, weights.string()), options, refit));
  return refit;
}

Json toJson(const Refit& refit, const std::vector<BuildPhase>& phases, const std::string& path, std::int64_t bytes) {
  const auto located = [](const std::vector<Diagnostic>& differences) {
    return jsonList(differences, [](const Diagnostic& difference) {
      const auto orNull = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
      return Json{{"node", orNull(difference.where.node)},
                  {"value", orNull(difference.where.value)},
                  {"attribute", orNull(difference.where.attribute)},
                  {"message", difference.message}};
    });
  };
  Json json{
      {"format", "fusescope.refit"},
      {"version", 1},
      {"ok", refit.ok()},
      {"engine", refit.engine},
      {"weights", refit.weights},
      {"written", path.empty() ? Json(nullptr) : Json(path)},
      {"bytes", path.empty() ? Json(nullptr) : Json(bytes)},
      {"differences", located(refit.network.differences)},
      {"plan_differences", located(refit.planDifferences)},
      {"same_weights", refit.network.isSameNetwork() ? Json(refit.sameWeights()) : Json(nullptr)},
      {"constants",
       {{"all", refit.network.constants},
        {"bytes", refit.network.bytes},
        {"changed", refit.network.changed},
        {"changed_bytes", refit.network.changedBytes}}},
      {"kernels",
       {{"as_before", refit.anew.kernels},
        {"chosen_anew", refit.anew.chosenAnew},
        {"code", refit.anew.code},
        {"code_of_numbers", refit.anew.codeOfNumbers}}},
      {"compiled_again", refit.compiledAgain && !refit.areAnswersFound ? Json(*refit.compiledAgain) : Json(nullptr)},
      {"times_kept", refit.timesKept},
      {"times_with_weights_of",
       refit.file.timesWithWeightsOf.empty() ? Json(nullptr) : Json(refit.file.timesWithWeightsOf)}};
  json["phases"] = jsonList(phases, [](const BuildPhase& phase) {
    return Json{{"name", phase.name}, {"ms", jsonNumber(phase.ms)}};
  });
  json["decisions"] = jsonList(refit.decisions, [](const Decision& decision) { return toJson(decision); });
  return json;
}

}  // namespace fusescope
