#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/print_times.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "planning/read_back/read_back_plan.h"
#include "session/documents/error_report.h"
#include "session/inputs/load_samples.h"
#include "session/job_files.h"
#include "session/operations/probe_operation.h"

namespace fusescope::cli {
namespace {

Result<int> pack(const ArgumentsOf<ProbePackSettings>& arguments) {
  if (arguments.plan.compiler.empty())
    return Diagnostic{.message = "the compiler that the job is for is missing",
                      .where = {.attribute = "--compiler"},
                      .help = "Give --compiler onnxruntime, for example; fusescope compilers lists them all."};
  JobDescription description{.model = {},
                             .extents = TRY(arguments.plan.inputOverrides()),
                             .options = TRY(arguments.plan.options()),
                             .inputs = {.paths = arguments.inputs.paths, .batchAxis = arguments.inputs.batchAxis},
                             .questions = TRY(parseJobQuestions(arguments.questions))};
  description.questions.threads = arguments.threads;
  description.questions.seconds = arguments.seconds;
  description.questions.warmupSeconds = arguments.warmup;
  const std::vector<std::string> names = namesOf(description.questions);
  const std::string compiler = description.options.compiler;
  const PackedJob packed = TRY(packModel(arguments.model, std::move(description), arguments.job, {}, progressLine()));
  clearProgressLine();
  if (arguments.json) {
    printJson({{"format", "fusescope.packed_job"},
               {"version", 1},
               {"job", packed.id},
               {"file", arguments.job},
               {"bytes", packed.bytes},
               {"compiler", compiler},
               {"do", names}});
  } else {
    std::cout << fmt::format(
        "{} is written, {}: it asks {} for {}\nrun it on the machine where that compiler is: python3 {}; it writes "
        "result.zip beside itself\nthen: fusescope probe open result.zip\n",
        arguments.job, bytesText(packed.bytes), compiler, joined(names), arguments.job);
  }
  return kDone;
}

/// Collects the answers to a job's questions.
struct Answers {
  std::optional<ErrorReport> errors;
  std::optional<TimeReport> time;
  std::vector<std::pair<std::string, std::string>> failed;  ///< each question and why it was not answered
  bool random = false;
};

/// Returns the value. If `result` is an error, records it as the failure of `question` and returns nullopt.
template <class T>
std::optional<T> orFailed(Result<T> result, const char* question, Answers& answers) {
  if (result.ok()) return std::move(result).value();
  answers.failed.emplace_back(question, result.error().text());
  return {};
}

Result<Answers> answersOf(const OpenedJob& job, const Artifact& artifact) {
  Answers answers;
  const JobQuestions& questions = job.description.questions;
  if (!questions.run && !questions.time && !questions.profile) return answers;
  std::string whyNot;
  const Samples samples = TRY(loadSamplesOrCarried(*artifact.plan, job.description.inputs, whyNot));
  answers.random = samples.random;
  if (questions.run)
    answers.errors =
        orFailed(measureErrors(artifact, samples, Tolerance::ofLoweredTypes(), {}, progressLine()), "run", answers);
  if (!questions.time && !questions.profile) return answers;
  BuildOptions options = buildOptions(artifact, 0, {}, progressLine());
  options.shapes = extentsOf(samples.first());
  const auto engine = TRY(openEngine(artifact, options));
  if (questions.time)
    answers.time = orFailed(timeEngine(*engine, samples.first(), {.perLayer = false}), "time", answers);
  if (questions.time && questions.profile && answers.time) {
    auto layers = orFailed(timeEngine(*engine, samples.first(), {.perLayer = true}), "profile", answers);
    if (layers) answers.time = std::move(layers);
  }
  return answers;
}

void printErrors(const ErrorReport& errors) {
  printTitle("Outputs, against float32 by fusescope here");
  Table table({{"name"}, {"max |Δ|", true}, {"max |Δ| / rms", true}, {"cosine", true}, {"problem"}});
  for (const TensorComparison& output : errors.outputs)
    table.add({shortened(output.name), fmt::format("{:.4g}", output.maxAbs), fmt::format("{:.4g}", output.maxOverRms),
               cosineText(output.cosine, 9), output.problem});
  table.print();
}

void printOpened(const OpenedJob& job, const Artifact& artifact, const Answers& answers) {
  if (artifact.made != nullptr) printReadBack(*artifact.made);
  if (answers.errors) printErrors(*answers.errors);
  if (answers.time) {
    printTitle("Times");
    printTimes(*answers.time);
  }
  const RecordedJob& recorded = job.recorded;
  std::cout << fmt::format("{} {} on {} ({}), Python {}, {}; the job ended {}\n", job.compiler, recorded.version,
                           recorded.machine, recorded.platform, recorded.python, counted(recorded.threads, "thread"),
                           recorded.finished);
  for (const auto& [question, why] : answers.failed) std::cout << fmt::format("no answer to {}: {}\n", question, why);
  if (answers.random) std::cout << "on random inputs: no others were given (--inputs)\n";
  std::cout << fmt::format("every command accepts it: fusescope plan {} --compiler {}\n",
                           shellQuoted(job.description.model.path), shellQuoted(job.description.options.compiler));
}

Result<int> openResult(const ArgumentsOf<ProbeOpenSettings>& arguments) {
  OpenedJob job = TRY(openJob(arguments.result, arguments.model));
  if (!arguments.inputs.paths.empty())
    job.description.inputs = {.paths = arguments.inputs.paths, .batchAxis = arguments.inputs.batchAxis};
  const Artifact artifact = TRY(readBackJob(job, {}, progressLine()));
  const Answers answers = TRY(answersOf(job, artifact));
  const bool isUnobeyed = reportUnobeyedPins(artifact.cover());
  clearProgressLine();
  if (arguments.json) {
    Json failed = Json::array();
    for (const auto& [question, why] : answers.failed) failed.push_back({{"do", question}, {"message", why}});
    printJson({{"format", "fusescope.opened_job"},
               {"version", 1},
               {"result", toJson(job)},
               {"plan", coverJson(artifact.cover())},
               {"errors", answers.errors ? toJson(*answers.errors) : Json(nullptr)},
               {"time", answers.time ? toJson(*answers.time) : Json(nullptr)},
               {"random_inputs", answers.random},
               {"failed", std::move(failed)}});
  } else {
    printOpened(job, artifact, answers);
  }
  return answers.failed.empty() && !isUnobeyed ? kDone : kDoesNotHold;
}

}  // namespace

Command probeCommand(CLI::App& app) {
  const Operation& operation = probeOperation();
  Command own = onlyParts(app, operation);
  CLI::App& verb = *own.app;
  return withParts(std::move(own), {commandOf<ProbePackSettings>(verb, partOf(operation, "probe pack"), pack),
                                    commandOf<ProbeOpenSettings>(verb, partOf(operation, "probe open"), openResult)});
}

}  // namespace fusescope::cli
