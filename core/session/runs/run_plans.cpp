#include "session/runs/run_plans.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "compilers/compile_network.h"
#include "engine/engine_file.h"
#include "planning/read_back/read_back_plan.h"
#include "session/engine_prices.h"
#include "session/open_artifact.h"

namespace fusescope {

namespace {

/// Opens the engine that was built; nullopt if its file does not exist, or is not the one that the run says was made.
std::optional<EngineFile> engineOf(const PlannedRun& run, const std::shared_ptr<const Model>& model) {
  std::error_code error;
  if (run.enginePath.empty() || !std::filesystem::is_regular_file(run.enginePath, error)) return std::nullopt;
  auto engine = openEngineFile(run.enginePath, model);
  if (!engine.ok() || (run.made && engine.value().made == nullptr)) return std::nullopt;
  return std::move(engine).value();
}

Result<std::shared_ptr<const Plan>> planAgain(const PlannedRun& run, const std::shared_ptr<const Model>& model,
                                              const StopToken& stop, const Plan* alike) {
  const Compiler* compiler = TRY(compilerFor(run.options));
  const auto prices = pricesFor(run.backend, run.options.target, *model);
  auto plan = TRY(makePlan(model, run.options, prices.get(), stop, alike));
  return run.made ? plan : planSupported(*compiler, std::move(plan), stop);
}

}  // namespace

PlannedRun::PlannedRun(const Run& run)
    : id(run.id),
      kind(run.kind),
      model(run.model),
      options(run.options),
      extents(run.extents),
      backend(run.backend),
      enginePath(run.build || run.kind == RunKind::Engine ? run.enginePath : std::string()),
      made(run.made) {}

bool PlannedRun::sameAs(const PlannedRun& other) const {
  return id == other.id && kind == other.kind && model == other.model && options == other.options &&
         extents == other.extents && backend == other.backend && enginePath == other.enginePath &&
         made.isSameObject(other.made);
}

Result<std::shared_ptr<const ReadBackPlan>> readMade(const Json& json, std::shared_ptr<const Plan> plan,
                                                     std::shared_ptr<const Model> model) try {
  const Json asked = json.is_object() ? json.value("asked", Json()) : Json();
  const bool isOther = asked.is_object() && asked.value("hash", "") != plan->hash.hex();
  if (isOther) plan = TRY(planFromJson(asked, std::move(model)));
  return readBackPlanFromJson(json, std::move(plan));
} catch (const Json::exception& error) {
  return Diagnostic{.message = std::string("is not what a compiler made of a plan: ") + error.what()};
}

Result<Artifact> artifactOf(const PlannedRun& run, std::shared_ptr<const Model> model, const StopToken& stop,
                            const Plan* alike) {
  if (run.kind == RunKind::Engine) return openArtifact(run.enginePath, {}, {}, {}, stop);
  if (run.kind == RunKind::Comparison)
    return Diagnostic{.message = fmt::format("run {} is a comparison, which has no plan of its own", run.id)};
  Artifact artifact{.backend = run.backend};
  artifact.path = model->path;
  if ((artifact.engine = engineOf(run, model))) {
    artifact.plan = artifact.engine->plan;
    artifact.made = artifact.engine->made;
    return artifact;
  }
  artifact.plan = TRY(planAgain(run, model, stop, alike));
  if (!run.made) return artifact;
  artifact.made = TRY(readMade(*std::as_const(run.made), artifact.plan, std::move(model)));
  artifact.plan = artifact.made->requested;
  return artifact;
}

Result<std::shared_ptr<const Artifact>> RunPlans::find(const PlannedRun& run, const OpenNetwork& network,
                                                       const StopToken& stop) {
  const auto entry = entryOf(run);
  const std::scoped_lock lock(entry->making);
  if (entry->artifact != nullptr) return entry->artifact;
  TRY(checkStop(stop));
  std::shared_ptr<const Model> model;
  const bool isOfModel = run.kind == RunKind::Plan;
  if (isOfModel && run.model != network.file.identity())
    return Diagnostic{.message = fmt::format("run {} was made of another network than the one that is open", run.id),
                      .help = "Open the file from which it was made, unchanged."};
  const bool sameExtents = run.extents == network.extents;
  if (isOfModel) model = sameExtents ? network.model : TRY(openModel(network.file.path, run.extents, stop));
  const Plan* alike = isOfModel && sameExtents ? network.plan.get() : nullptr;
  entry->artifact = std::make_shared<const Artifact>(TRY(artifactOf(run, std::move(model), stop, alike)));
  return entry->artifact;
}

std::shared_ptr<RunPlans::Entry> RunPlans::entryOf(const PlannedRun& run) {
  const std::scoped_lock lock(m_mutex);
  std::shared_ptr<Entry>& entry = m_entries[run.id];
  if (entry == nullptr || !entry->run.sameAs(run)) entry = std::make_shared<Entry>(run);
  return entry;
}

void RunPlans::forget(const std::string& run) {
  const std::scoped_lock lock(m_mutex);
  m_entries.erase(run);
}

void RunPlans::clear() {
  const std::scoped_lock lock(m_mutex);
  m_entries.clear();
}

}  // namespace fusescope
