#include "session/job_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.h"
#include "base/name_hints.h"
#include "base/text.h"
#include "compilers/limits.h"
#include "compilers/probed/probed_compiler.h"
#include "planning/plan_options_json.h"
#include "probe/job_file.h"
#include "session/build_and_run.h"
#include "session/inputs/load_samples.h"
#include "session/open_artifact.h"
#include "session/options_json.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "fusescope.job";
constexpr int kVersion = 1;

const std::vector<bool JobQuestions::*>& questionFlags() {
  static const std::vector<bool JobQuestions::*> kFlags{nullptr, &JobQuestions::run, &JobQuestions::time,
                                                        &JobQuestions::profile};
  return kFlags;
}

Result<JobQuestions> questionsFromJson(const Json& json) {
  JobQuestions questions;
  std::vector<std::string> names;
  JsonFields fields(json);
  fields.require("do").read("do", names).read("threads", questions.threads);
  fields.readNumber("seconds", questions.seconds).readNumber("warmup_seconds", questions.warmupSeconds);
  if (fields.error()) return *fields.error();
  const JobQuestions named = TRY(parseJobQuestions(joined(names, ",")));
  questions.run = named.run;
  questions.time = named.time;
  questions.profile = named.profile;
  return questions;
}

Result<const ProbedCompiler*> compilerToPackFor(const std::string& name) {
  const ProbedKind* kind = findProbedKind(name);
  if (kind != nullptr) return findProbedCompiler(name);
  std::vector<std::string> names;
  for (const ProbedKind* known : allProbedKinds()) names.emplace_back(known->name());
  const bool isPlaced = name.find('@') != std::string::npos;
  return Diagnostic{
      .message = isPlaced ? fmt::format("'{}' says where the compiler is, but a job is for another machine", name)
                          : fmt::format("no probe reaches a compiler '{}'", name),
      .where = {.attribute = "--compiler"},
      .help = isPlaced ? "Give only its name: the machine that runs the job decides where the compiler is."
                       : nearestInWords(name, names, fmt::format("The compilers are {}.", joined(names)))};
}

/// Plans a network as a job describes it, before a compiler is asked. The plan is the same where the job is packed and
/// where it is opened, whatever either machine has measured.
Result<std::shared_ptr<const Plan>> plannedFor(const fs::path& model, const JobDescription& description,
                                               const StopToken& stop, const Progress& progress) {
  auto opened = TRY(openModel(model, description.extents, stop, progress));
  if (progress) progress("plan", model.filename().string());
  return makePlan(std::move(opened), description.options, nullptr, stop);
}

/// Returns the inputs that the description names, otherwise the network's own example inputs, otherwise random ones.
/// They are the same where a job is packed and where it is opened.
Result<Samples> samplesOf(const Plan& plan, const JobDescription& description) {
  std::string whyNot;
  return loadSamplesOrCarried(plan, description.inputs, whyNot);
}

Diagnostic locatedAt(Diagnostic error, const fs::path& path) {
  if (error.where.file.empty()) error.where.file = path.string();
  return error;
}

}  // namespace

const std::vector<std::string_view>& jobQuestionNames() {
  static const std::vector<std::string_view> kNames{"plan", "run", "time", "profile"};
  return kNames;
}

Result<JobQuestions> parseJobQuestions(std::string_view text) {
  JobQuestions questions;
  for (const std::string& name : split(text, ',')) {
    const auto known = std::ranges::find(jobQuestionNames(), name);
    if (known == jobQuestionNames().end()) {
      const std::vector<std::string> names(jobQuestionNames().begin(), jobQuestionNames().end());
      return Diagnostic{.message = fmt::format("a job cannot be asked for '{}'", name),
                        .where = {.attribute = "--do"},
                        .help = nearestInWords(name, names, fmt::format("It can be asked for {}.", joined(names)))};
    }
    if (const auto flag = questionFlags()[static_cast<std::size_t>(known - jobQuestionNames().begin())])
      questions.*flag = true;
  }
  return questions;
}

std::vector<std::string> namesOf(const JobQuestions& questions) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < questionFlags().size(); ++i)
    if (const auto flag = questionFlags()[i]; flag == nullptr || questions.*flag)
      names.emplace_back(jobQuestionNames()[i]);
  return names;
}

Json toJson(const JobDescription& description) {
  return {{"format", kFormat},
          {"version", kVersion},
          {"model", toJson(description.model, {})},
          {"extents", toJson(description.extents)},
          {"options", toJson(description.options)},
          {"inputs", toJson(description.inputs)},
          {"do", namesOf(description.questions)},
          {"threads", description.questions.threads},
          {"seconds", description.questions.seconds},
          {"warmup_seconds", description.questions.warmupSeconds}};
}

Result<JobDescription> jobDescriptionFromJson(const Json& json) {
  JobDescription description;
  JsonFields fields(json);
  std::string format;
  fields.require("format").read("format", format);
  if (!fields.error() && (format != kFormat || json.value("version", Json()) != kVersion))
    return Diagnostic{
        .message = "the description of the job was written by another version of Fusescope, or by something else"};
  fields.require("model").parse("model", description.model,
                                [](const Json& entry) { return modelFileFromJson(entry, {}); });
  fields.parse("extents", description.extents, inputOverridesFromJson);
  fields.require("options").parse("options", description.options, planOptionsOfField);
  fields.parse("inputs", description.inputs, sampleSourceFromJson);
  if (fields.error()) return *fields.error();
  description.questions = TRY(questionsFromJson(json));
  return description;
}

Result<PackedJob> packModel(const fs::path& path, JobDescription description, const fs::path& job,
                            const StopToken& stop, const Progress& progress) {
  const ProbedCompiler& compiler = *TRY(compilerToPackFor(description.options.compiler));
  TRY(compilerFor(description.options));  // checks the compiler's options, target and limits
  const auto planned = plannedFor(path, description, stop, progress);
  if (!planned.ok()) return locatedAt(planned.error(), path);
  const Plan& plan = *planned.value();
  description.model = TRY(identify(plan.model->files));
  for (std::string& input : description.inputs.paths) input = fs::absolute(input).string();
  description.model.path = fs::absolute(description.model.path).string();
  const JobQuestions& questions = description.questions;
  std::vector<std::map<std::string, Tensor>> samples;
  if (questions.run || questions.time || questions.profile) samples = TRY(samplesOf(plan, description)).inputs();
  const auto given = samples.empty() ? std::map<std::string, Dims>() : extentsOf(samples.front());
  const auto extents = TRY(buildExtents(plan, given));
  if (progress) progress("pack", job.filename().string());
  const JobRequests asked = TRY(jobRequests(compiler.kind(), planned.value(), extents, samples, questions, stop));
  PackedJob packed{.id = TRY(packJob(compiler.kind().name(), asked.requests, job, stop, {}, toJson(description))),
                   .requests = asked.requests.size()};
  std::error_code unknown;
  packed.bytes = static_cast<std::int64_t>(fs::file_size(job, unknown));
  return packed;
}

Result<OpenedJob> openJob(const fs::path& result, const fs::path& model) {
  const std::string path = fs::absolute(result).string();
  if (!isJobResult(path))
    return Diagnostic{.message = "is not named like the result of a job: NAME.zip", .where = {.file = path}};
  const JobResult opened = TRY(openJobResult(path));
  const ProbedKind* kind = findProbedKind(opened.compiler);
  if (kind == nullptr)
    return Diagnostic{
        .message = fmt::format("this result is of a compiler that this program does not know: '{}'", opened.compiler),
        .where = {.file = path}};
  auto description = jobDescriptionFromJson(opened.asked);
  if (!description.ok()) return locatedAt(std::move(description).error(), path);
  auto recorded = TRY(readRecordedJob(path, kind->name()));
  OpenedJob job{.description = std::move(description).value(),
                .recorded = std::move(recorded),
                .compiler = std::string(kind->name())};
  job.description.options.compiler = job.compiler + "@" + path;
  if (!model.empty()) job.description.model = movedTo(std::move(job.description.model), model);
  const ModelState state = stateOnDisk(job.description.model);
  if (state.change == ModelChange::Missing)
    return Diagnostic{.message = "the network from which the job was packed does not exist",
                      .where = {.file = job.description.model.path},
                      .help = fmt::format("If it was moved, give its path: fusescope probe open {} MODEL", path)};
  if (state.change == ModelChange::Changed)
    return Diagnostic{
        .message = fmt::format("this is not the network from which the job of {} was packed: its bytes differ",
                               result.filename().string()),
        .where = {.file = state.file},
        .help = "Give the unchanged network, or pack the job again."};
  return job;
}

Result<Artifact> readBackJob(const OpenedJob& job, const StopToken& stop, const Progress& progress) {
  const JobDescription& description = job.description;
  auto artifact =
      TRY(openArtifact(description.model.path, description.extents, description.options, {}, stop, progress));
  BuildOptions options = buildOptions(artifact, 0, stop, progress);
  const JobQuestions& questions = description.questions;
  if (questions.run || questions.time || questions.profile)
    options.shapes = extentsOf(TRY(samplesOf(*artifact.plan, description)).first());
  TRY(readBack(artifact, options));
  return artifact;
}

Json toJson(const OpenedJob& job) {
  const auto orNull = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  const RecordedJob& recorded = job.recorded;
  return {{"file", recorded.file.path},
          {"compiler", job.compiler},
          {"version", orNull(recorded.version)},
          {"machine", orNull(recorded.machine)},
          {"platform", orNull(recorded.platform)},
          {"python", orNull(recorded.python)},
          {"finished", orNull(recorded.finished)},
          {"do", namesOf(job.description.questions)},
          {"threads", recorded.threads}};
}

}  // namespace fusescope
