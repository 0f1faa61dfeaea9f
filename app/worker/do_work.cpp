#include "app/worker/do_work.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <variant>

#include "base/files.h"
#include "planning/plan_options_json.h"
#include "planning/read_back/pins_made.h"
#include "session/advice.h"
#include "session/bisect.h"
#include "session/build_and_run.h"
#include "session/calibrate.h"
#include "session/compare.h"
#include "session/documents/decisions_about.h"
#include "session/documents/export_report.h"
#include "session/documents/layer_error_report.h"
#include "session/documents/memory_report.h"
#include "session/documents/tune_report.h"
#include "session/inputs/load_samples.h"
#include "session/inputs/samples.h"
#include "session/refit.h"
#include "session/runs/value_of_both.h"
#include "session/runs/verdict.h"
#include "session/specialise.h"

namespace fusescope::worker {
namespace {

/// A request that is being worked on.
struct Job {
  const WorkerRequest& request;
  EngineShelf& shelf;
  StopToken stop;
  PhaseClock& clock;
  Progress progress;
  std::vector<FileIdentity> files{};  ///< the files from which everything that was opened for it was made
};

Status checkObeyed(const Plan& plan) {
  const auto refusals = obeyRefusals(plan);
  if (refusals.empty()) return Done{};
  const auto& refusal = *refusals.front();
  const auto node = refusal.subjects.empty() ? std::string() : refusal.subjects.front().text();
  return Diagnostic{.message = fmt::format("the plan refuses {}: {}", refusal.by.text(), message(refusal)),
                    .where = {.file = plan.model->path, .node = node},
                    .help = "Mark it prefer, or change what prevents it."};
}

/// Returns an error about the first of the pins marked obey that a compiler did not obey.
Status checkObeyed(const std::vector<UnobeyedPin>& pins, const Plan& plan) {
  if (pins.empty()) return Done{};
  return Diagnostic{.message = fmt::format("because of {}, it {}", pins.front().by.text(), pins.front().words),
                    .where = {.file = plan.model->path, .node = pins.front().about.text()},
                    .help = "Mark it prefer, or change what prevents it."};
}

/// Returns an error if a value is missing that the command line requires as well.
Status checkGiven(const std::string& value, const char* field) {
  if (!value.empty()) return Done{};
  return Diagnostic{.message = "is missing", .where = {.attribute = std::string("settings.") + field}};
}

Result<Artifact> opened(Job& job, const WorkSource& source) {
  auto artifact = TRY(job.shelf.artifact(source, job.stop, job.progress));
  job.files.insert(job.files.end(), artifact.files.begin(), artifact.files.end());
  TRY(checkObeyed(*artifact.plan));
  return artifact;
}

/// Opens the source; returns an error if its compiler cannot run it.
Result<Artifact> runnable(Job& job, const WorkSource& source) {
  auto artifact = TRY(opened(job, source));
  TRY(checkAble(artifact.compiler(), Ability::Run, "run a network"));
  return artifact;
}

Result<Engine*> engineOf(const Job& job, const WorkSource& source, const Artifact& artifact,
                         const std::map<std::string, Tensor>& inputs) {
  auto options = buildOptions(artifact, job.request.threads, job.stop, job.progress);
  if (const auto* build = std::get_if<BuildSettings>(&job.request.settings)) {
    options.measureTactics = build->measuresTactics;
    // A build that measures nothing only asks what is made, so that a kept answer of another compiler for the same
    // network is enough.
    options.onlyMade = !build->measuresTactics;
    options.packsWeights = false;
    options.effortSeconds = build->effort;
  } else if (const auto* time = std::get_if<TimeSettings>(&job.request.settings)) {
    options.effortSeconds = time->effort;
  } else if (const auto* compare = std::get_if<CompareSettings>(&job.request.settings)) {
    options.effortSeconds = compare->effort;
  }
  options.shapes = extentsOf(inputs);
  Engine* engine = TRY(job.shelf.engine(source, artifact, options));
  // A build without a file only asks what the compiler makes: the answer says what became of each pin.
  const auto* build = std::get_if<BuildSettings>(&job.request.settings);
  if (build == nullptr || !build->output.empty()) TRY(checkObeyed(unobeyedPins(*engine->made()), engine->plan()));
  return engine;
}

Result<Samples> samplesOf(const Job& job, const Plan& plan) {
  return loadSamples(plan, job.request.inputs);
}

/// Returns the first difference that prevents the refit.
Diagnostic whyNotRefitted(const Refit& refit) {
  return refit.network.isSameNetwork() ? refit.planDifferences.front() : refit.network.differences.front();
}

/// Makes an engine of the source's network with the options, prices and tactics of another engine.
Result<Json> work(Job& job, const RefitSettings& settings) {
  const std::string& path = settings.output;
  TRY(checkGiven(path, "output"));
  TRY(checkGiven(settings.weights, "weights"));
  const Artifact engine = TRY(opened(job, WorkSource{.path = settings.engineFile}));
  const Refit refit = TRY(refitEngine(engine, settings.weights,
                                      {.threads = job.request.threads, .stop = job.stop, .progress = job.progress}));
  if (!refit.ok()) return whyNotRefitted(refit);
  job.progress("write", path);
  TRY(refit.save(path));
  std::error_code unknown;
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, unknown));
  const auto phases = job.clock.phases();
  Json json = toJson(refit.made->report(), phases, path, bytes);
  json["refit"] = toJson(refit, phases, path, bytes);
  return json;
}

Result<Json> work(Job& job, const BuildSettings& settings) {
  const auto artifact = TRY(opened(job, job.request.source));
  const auto samples = TRY(loadSamples(*artifact.plan, {}));
  auto* engine = TRY(engineOf(job, job.request.source, artifact, samples.first()));
  const std::string& path = settings.output;
  std::int64_t bytes = 0;
  if (!path.empty() && artifact.compiler().whyNot(Ability::Keep).empty()) {
    job.progress("write", path);
    TRY(engine->save(path));
    std::error_code unknown;
    bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, unknown));
  }
  Json json = toJson(engine->report(), job.clock.phases(), bytes > 0 ? path : std::string(), bytes);
  if (const auto made = engine->made(); made != nullptr && asReadBack(*made) != nullptr)
    json["made"] = toJson(*asReadBack(*made));
  return json;
}

Result<Json> work(Job& job, const RunCommandSettings& settings) {
  const auto artifact = TRY(runnable(job, job.request.source));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  auto* engine = TRY(engineOf(job, job.request.source, artifact, samples.first()));
  job.progress("run", artifact.path);
  return toJson(
      TRY(runOnce(*engine, samples.first(),
                  {.outputsFile = settings.outputs, .expectFile = settings.expect, .mark = settings.mark}, job.stop)));
}

/// The general engine is made for this request only; the engines for repeated extents are made beside it, and are
/// deleted with it.
Result<Json> specialise(const Job& job, const Artifact& artifact, const Samples& samples,
                        const TimeSettings& settings) {
  SpecialiseRequest request = settings.specialiseRequest();
  request.time = {
      .seconds = settings.seconds, .warmupSeconds = settings.warmup, .stop = job.stop, .progress = job.progress};
  auto options = buildOptions(artifact, job.request.threads, job.stop, job.progress);
  options.effortSeconds = settings.effort;
  options.shapes = extentsOf(samples.first());
  const auto engine = TRY(openSpecialising(artifact, options, request));
  return toJson(TRY(specialiseOn(*engine, samples, request)));
}

Result<Json> work(Job& job, const TimeSettings& settings) {
  const auto artifact = TRY(opened(job, job.request.source));
  TRY(checkAble(artifact.compiler(), Ability::Time, "time a network"));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  if (settings.specialise) return specialise(job, artifact, samples, settings);
  auto* engine = TRY(engineOf(job, job.request.source, artifact, samples.first()));
  job.progress("time", artifact.path);
  const auto report = TRY(timeEngine(*engine, samples.first(),
                                     {.seconds = settings.seconds,
                                      .warmupSeconds = settings.warmup,
                                      .perLayer = settings.perLayer,
                                      .stop = job.stop,
                                      .progress = job.progress}));
  Json json = toJson(report);
  json["decisions"] = saidOfEngineJson(*engine);
  if (const auto memory = engine->memory()) json["memory"] = toJson(*memory);
  return json;
}

Result<Json> work(Job& job, const CompareSettings& settings) {
  const auto a = TRY(runnable(job, job.request.source));
  const auto b = TRY(runnable(job, job.request.other));
  if (settings.seconds > 0)
    for (const Artifact* side : {&a, &b}) TRY(checkAble(side->compiler(), Ability::Time, "time a network"));
  const auto samples = TRY(samplesOf(job, *a.plan));
  auto* engineA = TRY(engineOf(job, job.request.source, a, samples.first()));
  auto* engineB = TRY(engineOf(job, job.request.other, b, samples.first()));
  if (engineA == engineB) {
    return Diagnostic{.message = "A and B are the same engine", .help = "Change a directive of one of them."};
  }
  auto report = TRY(compareEngines(*engineA, *engineB, samples, settings.seconds, job.stop, job.progress));
  report.a = job.request.source.path;
  report.b = job.request.other.path;
  return toJson(report);
}

Result<Json> work(Job& job, const EvaluateSettings&) {
  const auto artifact = TRY(runnable(job, job.request.source));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  Json json = toJson(TRY(measureErrors(artifact, samples, job.request.tolerance, job.stop, job.progress)));
  Evaluation evaluation = TRY(evaluationFromJson(json));
  evaluation.tolerance = job.request.tolerance;
  const Verdict verdict = verdictOf(evaluation, evaluation.tolerance);
  if (verdict.kind != Verdict::Kind::Fail || verdict.firstWrong.empty()) return json;
  job.progress("try pins", verdict.firstWrong);
  const LayerErrorOptions options{.backend = artifact.backend.empty() ? job.request.source.backend : artifact.backend,
                                  .threads = job.request.threads,
                                  .tolerance = job.request.tolerance,
                                  .stop = job.stop};
  json["advice"] =
      toJson(std::optional(TRY(adviceAbout(verdict.firstWrong, verdict.firstNotFinite ? Harm::NotFinite : Harm::Inexact,
                                           artifact.plan, samples, options, ErrorsAgainst::F32))));
  return json;
}

Result<Json> bisect(const Job& job, const Artifact& artifact, const Samples& samples, const ErrorsSettings& settings) {
  const BisectOptions options{.tolerance = job.request.tolerance.rms.value_or(INFINITY),
                              .builds = settings.builds,
                              .seconds = settings.seconds,
                              .threads = job.request.threads,
                              .stop = job.stop,
                              .progress = job.progress};
  const BisectReport report = TRY(bisectErrors(artifact, samples, options));
  Json json = toJson(report, artifact, samples, options);
  json["plan_options"] = report.without ? toJson(*report.without) : Json(nullptr);
  return json;
}

Result<Json> work(Job& job, const ErrorsSettings& settings) {
  const auto artifact = TRY(runnable(job, job.request.source));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  if (settings.bisect) return bisect(job, artifact, samples, settings);
  LayerErrorOptions options{.backend = artifact.backend.empty() ? job.request.source.backend : artifact.backend,
                            .threads = job.request.threads,
                            .tolerance = job.request.tolerance,
                            .stop = job.stop,
                            .progress = job.progress};
  const auto report = TRY(layerErrors(artifact, samples, options, settings.against));
  const auto advice = TRY(adviceAbout(report, artifact.plan, samples, options, settings.against));
  Json json = toJson(report, *artifact.plan, samples, options, settings.against);
  json["advice"] = toJson(advice);
  addInside(json, artifact.compiler(), report);
  if (const ReadBackPlan* made = report.made != nullptr ? asReadBack(*report.made) : nullptr)
    json["made"] = toJson(*made);
  return json;
}

Result<Json> work(Job& job, const TensorSettings& settings) {
  TRY(checkGiven(settings.name, "name"));
  TRY(checkGiven(settings.npz, "npz"));
  const auto artifact = TRY(runnable(job, job.request.source));
  TRY(checkAble(artifact.compiler(), Ability::InnerValues, "return values inside the network"));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  const LayerErrorOptions options{.backend = artifact.backend.empty() ? job.request.source.backend : artifact.backend,
                                  .threads = job.request.threads,
                                  .stop = job.stop,
                                  .progress = job.progress};
  const Sample* sample = TRY(sampleNumber(samples, settings.sample));
  Json json = TRY(writeValueOfBoth(TRY(valueOfBoth(artifact, settings.name, *sample, options)), settings.npz));
  addSamples(json, samples);
  return json;
}

/// Reports each better set together with all earlier ones, because only the newest message is certain to arrive.
OnBetter reportBetter(const Progress& progress) {
  return [progress, all = Json::array()](const TunePoint& point, std::int64_t evaluations) mutable {
    all.push_back(toJson(point));
    all.back()["evaluations"] = evaluations;
    if (progress) progress(kTuneBetterPhase, Json{{"better", all}}.dump());
  };
}

OnTry reportTried(const Progress& progress) {
  return [progress](const std::vector<std::string>& nodes, std::int64_t evaluations) {
    if (!progress) return;
    const auto listed = static_cast<std::ptrdiff_t>(std::min(nodes.size(), kMostNodesListed));
    progress(kTuneTryPhase, Json{{"evaluations", evaluations},
                                 {"pins", nodes.size()},
                                 {"nodes", std::vector<std::string>(nodes.begin(), nodes.begin() + listed)}}
                                .dump());
  };
}

/// Opens the source for a search, which builds on the pins that are there.
Result<Artifact> searchable(Job& job) {
  auto artifact = TRY(runnable(job, job.request.source));
  const auto options = buildOptions(artifact, job.request.threads, job.stop, job.progress);
  TRY(checkObeyed(TRY(pinsNotObeyed(artifact, options)), *artifact.plan));
  return artifact;
}

Result<Json> work(Job& job, const TuneSettings& settings) {
  const auto artifact = TRY(searchable(job));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  TuneOptions options;
  options.goal = settings.goal;
  options.evaluator = {.backend = tuningBackend(artifact),
                       .threads = job.request.threads,
                       .output = settings.of,
                       .metric = settings.metric,
                       .stop = job.stop};
  options.stateFile = settings.state;
  options.explain = settings.explain;
  options.onBetter = reportBetter(job.progress);
  options.onTry = reportTried(job.progress);
  options.progress = job.progress;
  const TuneReport report = TRY(tuneArtifact(artifact, samples, options));
  Json json = toJson(report, samples, options);
  json["options"] = toJson(report.options);
  return json;
}

Result<Json> work(Job& job, const CalibrateSettings& settings) {
  const auto artifact = TRY(opened(job, job.request.source));
  const auto samples = TRY(samplesOf(job, *artifact.plan));
  CalibrateOptions options{
      .settings = settings.calibration, .threads = job.request.threads, .stop = job.stop, .progress = job.progress};
  if (!artifact.backend.empty()) options.backend = artifact.backend;
  return toJson(TRY(calibrate(*artifact.plan, samples, options)), Histograms::Written);
}

/// If the check of the export fails, the answer is an error, and nothing is written.
Result<Json> work(Job& job, const ExportSettings& settings) {
  TRY(checkGiven(settings.output, "output"));
  const Exporter* exporter = findExporter(settings.format);
  if (exporter == nullptr) return Diagnostic{.message = fmt::format("'{}' is not a format", settings.format)};
  TRY(checkOptions(*exporter, settings.own));
  const auto artifact = TRY(opened(job, job.request.source));
  ExportOptions options{
      .path = settings.output, .own = settings.own, .tolerance = job.request.tolerance, .stop = job.stop};
  if (settings.check && exporter->takesSamples) {
    const Samples samples = TRY(samplesOf(job, *artifact.plan));
    options.samples = samples.inputs();
    options.sampleNames = samples.names();
  }
  job.progress(options.samples.empty() ? "export" : "export and check", settings.output);
  const Exported exported = TRY(exporter->write(*artifact.plan, options));
  if (exported.failedCheck) return *exported.failedCheck;
  job.progress("write", settings.output);
  TRY(exported.save ? exported.save(settings.output) : writeFileAtomically(settings.output, exported.text));
  return exportJson(settings.format, settings.output, exported);
}

Result<Json> work(Job& job, const CancelSettings&) {
  return Diagnostic{.message = fmt::format("'{}' is not work", operationName(job.request.settings))};
}
Result<Json> work(Job& job, const ShutdownSettings&) {
  return work(job, CancelSettings());
}

}  // namespace

Result<Json> doWork(const WorkerRequest& request, EngineShelf& shelf, const StopToken& stop, const Progress& progress) {
  PhaseClock clock(progress);
  Job job{request, shelf, stop, clock, clock.progress()};
  auto done = std::visit([&](const auto& settings) { return work(job, settings); }, request.settings);
  if (!done.ok() && done.error().cancelled) return done;
  TRY(checkUnchanged(job.files));  // otherwise the answer may be about the old file, the new one or a mixture of both
  if (done.ok() || !request.inputs.empty() || request.is<RefitSettings>()) return done;
  const auto artifact = shelf.artifact(request.source, stop, {});
  return artifact.ok() ? underAssumedExtents(std::move(done), *artifact.value().plan, false) : done;
}

}  // namespace fusescope::worker
