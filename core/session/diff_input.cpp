#include "session/diff_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/inputs/sample_source.h"
#include "session/runs/run_errors.h"
#include "session/session_file.h"

namespace fusescope {

namespace {

/// Adds the times of the chosen tactics from when the engine was built, as far as they were measured.
void addBuilt(const EngineFile& engine, DiffInput& input) {
  for (const TacticChoice& choice : engine.tactics) {
    const auto chosen = std::ranges::find(choice.candidates, choice.chosen, &TacticTime::name);
    if (chosen != choice.candidates.end() && chosen->ms)
      input.times.insert_or_assign(choice.identity, DiffTime{*chosen->ms, DiffTimeKind::Built});
  }
}

/// Adds the times that the compiler reported when it made the plan. A kernel that runs only once takes no time in a
/// run.
void addReportedTimes(const ReadBackPlan& made, DiffInput& input) {
  for (const FusedNode& fused : made.fusedNodes) {
    const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
    const std::optional<double> ms = kernel.once ? 0 : kernel.ms;
    if (ms) input.times.insert_or_assign(fused.identity, DiffTime{*ms, DiffTimeKind::Run});
  }
}

void addLayers(const std::vector<RunLayer>& layers, const Cover& plan, DiffInput& input) {
  for (const RunLayer& layer : layers) {
    addLayers(layer.kernels, plan, input);
    if (!layer.medianMs) continue;
    const auto fused =
        std::ranges::find(plan.fusedNodes, layer.identity, [](const FusedNode& each) { return each.identity.hex(); });
    if (fused != plan.fusedNodes.end())
      input.times.insert_or_assign(fused->identity, DiffTime{*layer.medianMs, DiffTimeKind::Run});
  }
}

/// Describes what was measured: "photos.npz, 8 samples, against f32 on native".
std::string onText(const SampleSource& inputs, std::int64_t samples, const std::string& against,
                   const std::string& backend) {
  std::string text = inWords(inputs);
  if (samples > 0) text += ", " + counted(samples, "sample");
  return text + fmt::format(", against {} on {}", against, backend);
}

DiffErrors errorsOn(const SampleSource& inputs, std::int64_t samples, const std::string& against,
                    const std::string& backend) {
  return {.on = onText(inputs, samples, against, backend),
          .how = Json{toJson(inputs), samples, against, backend}.dump(),
          .values = {}};
}

DiffErrors errorsOf(const Evaluation& evaluation) {
  DiffErrors errors = errorsOn(evaluation.inputs, std::ssize(evaluation.samples), "f32", "reference");
  for (const auto* list : {&evaluation.outputs, &evaluation.values})
    for (const TensorComparison& value : *list)
      if (value.problem.empty()) errors.values[value.name].carried = value.maxOverRms;
  return errors;
}

DiffError errorOf(const LocalAndCarried& errors) {
  const auto size = [](const std::optional<TensorError>& error) {
    if (!error || !error->isMeaningful()) return std::optional<double>();
    return std::optional(largestOverRms(*error));
  };
  return {.carried = size(errors.carried), .local = size(errors.local)};
}

/// Returns the errors of a run. Errors: `plan` does not have one of its fused nodes, or has it with other types.
Result<DiffErrors> errorsOf(const RunErrors& run, const Cover& plan) {
  DiffErrors errors = errorsOn(run.inputs, run.samples, run.against, run.backend);
  std::map<std::string, const FusedNode*> byIdentity;
  for (const FusedNode& fused : plan.fusedNodes) byIdentity[fused.identity.hex()] = &fused;
  for (const RunNodeErrors& node : run.nodes) {
    const auto fused = byIdentity.find(node.identity);
    if (fused == byIdentity.end())
      return Diagnostic{.message = "belongs to another plan: this one has no such fused node",
                        .where = {.node = node.name}};
    if (node.types != layerTypes(plan, *fused->second))
      return Diagnostic{.message = "belongs to another plan: in this one the fused node has other types",
                        .where = {.node = node.name}};
    errors.fusedNodes[fused->second->identity] = errorOf(node.errors);
  }
  for (const TensorErrors& tensor : run.tensors) errors.values[tensor.name] = errorOf(tensor.errors);
  return errors;
}

void addRuns(const Session& session, const Cover& plan, DiffInput& input) {
  std::multimap<std::string, DiffErrors> byTime;
  for (const Run& run : session.runs) {
    if (!run.madeFrom(session.model.identity(), session.options, session.extents)) continue;
    if (run.time) addLayers(run.time->layers, plan, input);
    for (const auto& evaluation : run.evaluations) byTime.emplace(evaluation->when, errorsOf(*evaluation));
    for (const auto& errors : run.errors)
      if (auto known = errorsOf(*errors, plan); known.ok()) byTime.emplace(errors->when, std::move(known).value());
  }
  for (auto& [when, errors] : byTime) input.errors.push_back(std::move(errors));
}

Result<DiffErrors> readErrors(const std::filesystem::path& path, const Cover& plan) {
  const Json json = Json::parse(TRY(readTextFile(path)), nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != "fusescope.errors")
    return Diagnostic{.message = "is not a file that errors --json wrote"};
  DiffErrors errors = TRY(errorsOf(TRY(runErrorsFromJson(json)), plan));
  const bool named = json.contains("inputs") || json.value("random_inputs", Json()) == true;
  if (!named) errors.on = errors.how = path.string() + ", which does not name its inputs";
  return errors;
}

}  // namespace

DiffInput diffInput(const Artifact& artifact) {
  DiffInput input{.cover = &artifact.cover(), .label = artifact.path};
  if (artifact.engine) addBuilt(*artifact.engine, input);
  if (artifact.made != nullptr) addReportedTimes(*artifact.made, input);
  if (artifact.session != nullptr) addRuns(*artifact.session, artifact.cover(), input);
  return input;
}

void addTimes(const RunTime& time, DiffInput& input) {
  addLayers(time.layers, *input.cover, input);
}

Status addErrors(const std::filesystem::path& path, DiffInput& input) {
  auto errors = readErrors(path, *input.cover);
  if (!errors.ok()) {
    Diagnostic error = std::move(errors).error();
    error.where.file = path.string();
    error.help = "Write it with the plan options of this side: fusescope errors MODEL … --json.";
    return error;
  }
  input.errors.push_back(std::move(errors).value());
  return Done{};
}

}  // namespace fusescope
