#include "session/open_artifact.h"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <span>

#include "base/files.h"
#include "base/mapped_file.h"
#include "base/named_file.h"
#include "base/user_json.h"
#include "compilers/compile_network.h"
#include "compilers/limits.h"
#include "frontends/tensorrt/engine_layers.h"
#include "frontends/torch/script_files.h"
#include "planning/applicable_options.h"
#include "session/engine_prices.h"
#include "session/session_file.h"

namespace fusescope {
namespace {

constexpr std::string_view kPlanFormat = "fusescope.plan";

/// Returns the inputs that the user gave when the plan was made; they are part of the model for which it was made.
std::vector<InputOverride> userInputs(const Json& plan) {
  std::vector<InputOverride> inputs;
  if (!plan.contains("input_specs") || !plan["input_specs"].is_array()) return inputs;
  for (const auto& spec : plan["input_specs"]) {
    if (!spec.is_object() || spec.value("source", "") != "user") continue;
    InputOverride input{.name = spec.value("name", "")};
    const auto dims = [&](const char* key) {
      return spec.contains(key) && spec[key].is_array() ? spec[key].get<Dims>() : Dims();
    };
    input.min = dims("min");
    input.opt = dims("opt");
    input.max = dims("max");
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Status readPlan(const Json& json, std::shared_ptr<const Model> model, Artifact& artifact) {
  const bool isReadBack = json.value("source", "") == name(CoverSource::ReadBack) && json.contains("asked");
  artifact.plan = TRY(planFromJson(isReadBack ? json["asked"] : json, std::move(model)));
  if (isReadBack) artifact.made = TRY(readBackPlanFromJson(json, artifact.plan));
  return Done{};
}

/// Opens a plan file: sets `plan`, and also `made` if the plan was read back.
Status openPlan(const std::filesystem::path& path, Artifact& artifact, const StopToken& stop,
                const Progress& progress) {
  const auto located = [&](std::string message, std::string field, std::string help = {}) {
    return Diagnostic{.message = std::move(message),
                      .where = {.file = path.string(), .attribute = std::move(field)},
                      .help = std::move(help)};
  };
  const Json json = Json::parse(TRY(readTextFile(path)), nullptr, false);
  if (json.is_discarded())
    return located("this is not complete JSON", {}, "Write the plan again: fusescope plan MODEL -o F.");
  if (isSessionFile(path)) return located("this is a session, not a plan", "format", "Give it with --session.");
  if (!json.is_object() || !json.contains("format") || json["format"] != kPlanFormat) {
    const std::string says = json.contains("format") ? "its format is " + json["format"].dump() : "it has no format";
    return located(fmt::format("this is not a plan, whose format is \"{}\": {}", kPlanFormat, says), "format",
                   "Directives are given with --directives, ranges with --ranges; a plan is written by: fusescope plan "
                   "MODEL -o F.");
  }
  if (!json.contains("model")) return located(missingInWords(json, "model"), "model");
  if (!json["model"].is_string()) return located("is not the path of a model", "model");
  try {
    auto model = TRY(openModel(fileNamedIn(path, json["model"].get<std::string>()), userInputs(json), stop, progress));
    Status read = readPlan(json, std::move(model), artifact);
    if (read.ok()) return read;
    auto error = std::move(read).error();
    if (error.where.file.empty()) error.where.file = path.string();
    return error;
  } catch (const Json::exception& error) {
    return located(fmt::format("the plan cannot be read: {}", error.what()), {});
  }
}

Diagnostic holdsItsOwn(const std::filesystem::path& path, std::string_view what) {
  return {.message = fmt::format("{} already contains its plan options and inputs; do not give others", what),
          .where = {.file = path.string()},
          .help = "Leave the options out, or start from the model."};
}

}  // namespace

Result<ArtifactKind> artifactKind(const std::filesystem::path& path) {
  if (auto script = whyScriptIsNotOpened(path)) return *std::move(script);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Diagnostic{.message = "there is no such file", .where = {.file = path.string()}};
  }
  if (!std::filesystem::is_regular_file(path, error)) {
    return Diagnostic{.message = "this is not a file", .where = {.file = path.string()}};
  }
  if (isEngineFile(path)) return ArtifactKind::Engine;
  if (isEngineLayersFile(path)) return ArtifactKind::Model;  // a network is drawn from it
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  while (file.get(first) && std::isspace(static_cast<unsigned char>(first)) != 0) continue;
  return first == '{' ? ArtifactKind::Plan : ArtifactKind::Model;  // an ONNX file never begins with '{'
}

namespace {

/// Returns the backend of accelerated segments: the one that was asked for, otherwise the target's backend if this
/// program contains it.
std::string backendFor(const std::string& asked, const std::string& target) {
  if (!asked.empty()) return asked;
  const auto named = Target::fromName(target);
  const bool isHere = named.ok() && findBackend(named.value().acceleratedBackend) != nullptr;
  return isHere ? named.value().acceleratedBackend : "native";
}

/// Fills the plan of a model. `previous` is a plan of the same model; null: there is none.
Status planModel(Artifact& artifact, std::shared_ptr<const Model> model, const PlanOptions& options,
                 const std::string& backend, const Plan* previous, const StopToken& stop, const Progress& progress) {
  const Compiler& compiler = *TRY(compilerFor(options));
  if (progress) progress("plan", std::filesystem::path(artifact.path).filename().string());
  artifact.backend = backendFor(backend, options.target);
  const auto prices = pricesFor(artifact.backend, options.target, *model);
  auto plan = makePlan(std::move(model), options, prices.get(), stop, previous);
  if (plan.ok()) plan = planSupported(compiler, std::move(plan).value(), stop, progress);
  if (!plan.ok()) {
    auto error = std::move(plan).error();
    if (error.where.file.empty()) error.where.file = artifact.path;
    return error;
  }
  artifact.plan = std::move(plan).value();
  return Done{};
}

Result<Artifact> opened(const std::filesystem::path& path, const std::vector<InputOverride>& inputs,
                        const PlanOptions& options, const std::string& backend, const StopToken& stop,
                        const Progress& progress) {
  Artifact artifact{.kind = TRY(artifactKind(path)), .path = path.string(), .backend = backend};
  const bool given = !inputs.empty() || !(options == PlanOptions());
  switch (artifact.kind) {
    case ArtifactKind::Engine: {
      if (given) return holdsItsOwn(path, "an engine");
      if (progress) progress("read engine", path.filename().string());
      artifact.engine = TRY(openEngineFile(path));
      artifact.plan = artifact.engine->plan;
      artifact.made = artifact.engine->made;
      TRY(compilerFor(artifact.plan->options));
      artifact.backend = artifact.engine->backend;
      return artifact;
    }
    case ArtifactKind::Plan:
      if (given) return holdsItsOwn(path, "a saved plan");
      TRY(openPlan(path, artifact, stop, progress));
      TRY(compilerFor(artifact.plan->options));
      artifact.backend = backendFor(backend, artifact.plan->options.target);
      return artifact;
    case ArtifactKind::Model: {
      const Compiler& compiler = *TRY(compilerFor(options));
      const auto ready = options.support == nullptr ? compiler.getReady() : nullptr;  // runs while the model is read
      auto model = TRY(openModel(path, inputs, stop, progress));
      artifact.memory = std::make_shared<BuildMemory>();
      TRY(planModel(artifact, std::move(model), options, backend, nullptr, stop, progress));
      return artifact;
    }
  }
  return artifact;
}

}  // namespace

Result<Artifact> openArtifact(const std::filesystem::path& path, const std::vector<InputOverride>& inputs,
                              const PlanOptions& options, const std::string& backend, const StopToken& stop,
                              const Progress& progress) {
  TRY(artifactKind(path));  // reports first that a file does not exist
  const FileIdentity own = TRY(identityOf(path));
  auto artifact = TRY(unlessChanged(opened(path, inputs, options, backend, stop, progress), std::span(&own, 1)));
  const MappedFiles& ofModel = artifact.plan->model->files;
  artifact.files = identitiesOf(ofModel);
  if (artifact.kind == ArtifactKind::Plan) artifact.files.insert(artifact.files.begin(), own);
  TRY(checkCurrent(ofModel));
  return artifact;
}

Result<Artifact> openEdited(const Artifact& before, const PlanOptions& options, const std::string& backend,
                            const StopToken& stop, const Progress& progress) {
  if (before.kind != ArtifactKind::Model)
    return holdsItsOwn(before.path, before.kind == ArtifactKind::Plan ? "a saved plan" : "an engine");
  TRY(checkUnchanged(before.files));
  Artifact artifact{.kind = before.kind,
                    .path = before.path,
                    .backend = backend,
                    .files = before.files,
                    .session = before.session,
                    .memory = before.memory};
  TRY(unlessChanged(
      planModel(artifact, unquantized(before.plan->model), options, backend, before.plan.get(), stop, progress),
      before.files));
  TRY(checkCurrent(artifact.plan->model->files));
  return artifact;
}

Result<Artifact> openSession(const std::filesystem::path& path, const std::filesystem::path& model,
                             const std::string& backend, std::vector<std::string>& warnings, const StopToken& stop,
                             const Progress& progress) {
  auto session = std::make_shared<Session>(TRY(readSession(path)));
  if (!model.empty()) session->model = movedTo(std::move(session->model), model);
  if (!backend.empty()) session->settings.backend = backend;
  const ModelState state = stateOnDisk(session->model);
  if (state.change == ModelChange::Missing) {
    return Diagnostic{.message = "the model of the session does not exist",
                      .where = {.file = path.string(), .attribute = "model"},
                      .help = fmt::format("Its path was {}. If it was moved, give its new path beside --session.",
                                          session->model.path)};
  }
  PlanOptions options = session->options;
  if (state.change == ModelChange::Changed) {
    warnings.push_back(fmt::format("{} has changed since the session was saved", state.file));
    const auto opened = TRY(openModel(session->model.path, session->extents, stop, progress));
    auto applicable = TRY(applicableOptions(*opened, options, stop));
    for (const auto& [directive, why] : applicable.dropped)
      warnings.push_back(fmt::format("left out: {}: {}", inWords(directive), why));
    options = std::move(applicable.options);
  }
  auto artifact =
      TRY(openArtifact(session->model.path, session->extents, options, session->settings.backend, stop, progress));
  artifact.session = std::move(session);
  return artifact;
}

}  // namespace fusescope
