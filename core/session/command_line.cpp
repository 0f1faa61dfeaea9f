#include "session/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "session/plan_words.h"

namespace fusescope {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// What a line holds so far: the words of one command, and the files that it needs.
class CommandWords {
 public:
  CommandWords(std::string_view verb, const fs::path& folder) : m_folder(folder) {
    m_words = {"fusescope", std::string(verb)};
  }

  CommandWords& word(std::string text) {
    m_words.push_back(std::move(text));
    return *this;
  }
  CommandWords& words(const Words& more) {
    m_words.insert(m_words.end(), more.begin(), more.end());
    return *this;
  }
  /// A value that looks like an option is joined to its own.
  CommandWords& option(const std::string& name, const std::string& value) {
    return value.starts_with("-") ? word(name + "=" + value) : word(name).word(value);
  }
  CommandWords& number(const std::string& name, double value) { return option(name, fmt::format("{}", value)); }
  CommandWords& path(const std::string& file) { return word(absolutePath(file)); }
  CommandWords& model(const WorkSource& source) {
    path(source.path);
    return planned(source);
  }
  CommandWords& planned(const WorkSource& source) {
    PlanWords plan = planWords(source, m_folder);
    m_files.insert(m_files.end(), plan.files.begin(), plan.files.end());
    return words(plan.words);
  }
  /// --backend, where it is not what is taken anyway: another compiler has none, an engine file its own.
  CommandWords& backend(const WorkSource& source) {
    if (source.options.compiler == kOwnCompiler && source.backend != WorkSource().backend)
      option("--backend", source.backend);
    return *this;
  }
  CommandWords& threads(int threads) { return threads > 0 ? option("--threads", std::to_string(threads)) : *this; }
  CommandWords& inputs(const SampleSource& source) {
    for (const std::string& file : source.paths) option("--inputs", absolutePath(file));
    if (source.batchAxis && !source.empty()) option("--batch-axis", std::to_string(*source.batchAxis));
    return *this;
  }
  CommandLine line() const { return {{m_words}, m_files}; }

 private:
  fs::path m_folder;
  Words m_words;
  std::vector<CommandFile> m_files;
};

/// "resnet50_ranges.json" of ".../resnet50.onnx"; of files that are all called model the folder tells them apart.
std::string besideName(const WorkSource& source, std::string_view ending) {
  const fs::path file(source.path);
  const std::string stem = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  return (stem == "model" && !folder.empty() ? folder : stem) + std::string(ending);
}

bool isEngine(const WorkSource& source) {
  return fs::path(source.path).extension() == ".fse";
}

CommandLine buildLine(const WorkSource& source, const std::string& engine, int threads, bool measure,
                      const fs::path& folder) {
  CommandWords words("build", folder);
  words.model(source).backend(source).threads(threads);
  if (!measure) words.word("--no-measure");
  return words.option("-o", engine).line();
}

CommandLine buildCommand(const WorkerRequest& request, const fs::path& folder) {
  const std::string engine =
      request.enginePath.empty() ? besideName(request.source, ".fse") : absolutePath(request.enginePath);
  if (!request.refitted.empty()) {
    CommandWords words("refit", folder);
    words.path(request.refitted).option("--weights", absolutePath(request.source.path)).threads(request.threads);
    return words.option("-o", engine).line();
  }
  return buildLine(request.source, engine, request.threads, request.measureTactics, folder);
}

CommandLine timeCommand(const WorkerRequest& request, const fs::path& folder) {
  CommandWords words("time", folder);
  words.model(request.source).backend(request.source).threads(request.threads);
  words.number("--seconds", request.seconds).number("--warmup", request.warmupSeconds);
  if (request.op == WorkerOp::Specialise) words.word("--specialise");
  if (request.op == WorkerOp::Time && request.perLayer) words.word("--per-layer");
  return words.inputs(request.inputs).line();
}

CommandLine runCommand(const WorkerRequest& request, const fs::path& folder) {
  CommandWords words("run", folder);
  words.model(request.source).backend(request.source).threads(request.threads).inputs(request.inputs);
  if (!request.outputsFile.empty()) words.option("--outputs", absolutePath(request.outputsFile));
  if (!request.expectFile.empty()) words.option("--expect", absolutePath(request.expectFile));
  const auto bound = [&](const char* name, const std::optional<double>& value) {
    if (value) words.number(name, *value);
  };
  bound("--tol-rms", request.tolerance.rms);
  bound("--atol", request.tolerance.absolute);
  bound("--rtol", request.tolerance.relative);
  return words.line();
}

/// The engine file that stands for a side of a comparison; what makes it is put before.
std::string compared(const WorkSource& source, const std::string& name, int threads, const fs::path& folder,
                     CommandLine& before) {
  const bool asItIs = isEngine(source) || (source.options == PlanOptions() && source.inputs.empty());
  if (asItIs) return absolutePath(source.path);
  before.then(buildLine(source, name, threads, true, folder));
  return name;
}

CommandLine compareCommand(const WorkerRequest& request, const fs::path& folder) {
  CommandLine line;
  const std::string a = compared(request.source, besideName(request.source, "_a.fse"), request.threads, folder, line);
  const std::string b = compared(request.other, besideName(request.other, "_b.fse"), request.threads, folder, line);
  CommandWords words("compare", folder);
  words.word(a).word(b).number("--seconds", request.seconds).threads(request.threads).inputs(request.inputs);
  return line.then(words.line());
}

Result<CommandLine> errorsCommand(const WorkerRequest& request, const fs::path& folder) {
  if (request.tolerance.absolute || request.tolerance.relative || !request.tolerance.rms)
    return Diagnostic{.message = "the command errors judges by max|Δ| over rms alone, and the session by other numbers",
                      .help = "Choose a tolerance of max|Δ| over rms."};
  const bool evaluated = request.op == WorkerOp::MeasureError;
  WorkSource source = request.source;
  if (evaluated) source.backend = "reference";
  CommandWords words("errors", folder);
  words.model(source).backend(source).threads(request.threads).inputs(request.inputs);
  words.number("--tol-rms", *request.tolerance.rms);
  if (request.op == WorkerOp::Errors && request.against == ErrorsAgainst::F64) words.option("--against", "f64");
  if (request.op != WorkerOp::Bisect) return words.line();
  words.word("--bisect");
  if (request.bisect.seconds > 0) words.number("--budget", request.bisect.seconds);
  if (request.bisect.builds > 0) words.option("--builds", std::to_string(request.bisect.builds));
  return words.line();
}

/// The command counts samples as the worker does, from 0 on.
CommandLine tensorCommand(const WorkerRequest& request, const fs::path& folder) {
  CommandWords words("tensor", folder);
  words.path(request.source.path).word(request.value).planned(request.source);
  words.backend(request.source).threads(request.threads);
  words.inputs(request.inputs).option("--sample", std::to_string(request.sample));
  return words.line();
}

CommandLine tuneCommand(const WorkerRequest& request, const fs::path& folder) {
  const TuneWishes& wishes = request.tune;
  CommandWords words("tune", folder);
  words.model(request.source).backend(request.source).threads(request.threads).inputs(request.inputs);
  if (wishes.goal.maxError) words.number("--max-error", *wishes.goal.maxError);
  if (wishes.goal.minSpeedup) words.number("--min-speedup", *wishes.goal.minSpeedup);
  if (!wishes.output.empty()) words.option("--of", wishes.output);
  if (!wishes.metric.empty()) words.option("--metric", wishes.metric);
  if (wishes.goal.seconds > 0) words.number("--budget", wishes.goal.seconds);
  if (wishes.goal.evaluations > 0) words.option("--evaluations", std::to_string(wishes.goal.evaluations));
  if (wishes.goal.seed != TuneGoal().seed) words.option("--seed", std::to_string(wishes.goal.seed));
  if (wishes.goal.baselines) words.word("--baselines");
  if (wishes.explain) words.word("--explain");
  return words.option("-o", besideName(request.source, "_pins.json")).line();
}

CommandLine calibrateCommand(const WorkerRequest& request, const fs::path& folder) {
  const CalibrationSettings &settings = request.calibrate, usual;
  CommandWords words("calibrate", folder);
  words.model(request.source).backend(request.source).threads(request.threads).inputs(request.inputs);
  words.option("--method", std::string(name(settings.choice.method)));
  if (settings.choice.percentile != usual.choice.percentile) words.number("--percentile", settings.choice.percentile);
  words.option("--weights", std::string(name(settings.weightMethod)));
  if (!settings.perChannel) words.word("--per-tensor");
  if (settings.choice.symmetric) words.word("--symmetric");
  if (!settings.correctBiases) words.word("--keep-biases");
  if (settings.smoothing > 0) words.number("--smooth", settings.smoothing);
  for (const std::string& pattern : settings.exclude) words.option("--exclude", pattern);
  return words.option("-o", besideName(request.source, "_ranges.json")).line();
}

CommandLine exportCommand(const WorkerRequest& request, const fs::path& folder) {
  const ExportWishes& wishes = request.exported;
  const Exporter* exporter = findExporter(wishes.format);
  CommandWords words("export", folder);
  words.model(request.source).option("--to", wishes.format);
  if (!wishes.path.empty()) words.option("-o", wishes.path);
  if (wishes.weights == WeightTypes::Keep) words.option("--weights", "keep");
  if (wishes.borders == BorderTypes::Plan) words.option("--io", "plan");
  if (!wishes.check || exporter == nullptr || !exporter->takesSamples) return words.line();
  words.inputs(request.inputs);
  return request.tolerance.rms ? words.number("--tol-rms", *request.tolerance.rms).line() : words.line();
}

/// The command that does the work itself is the last.
Result<CommandLine> lineOf(const WorkerRequest& request, const fs::path& folder) {
  switch (request.op) {
    case WorkerOp::Build:
      return buildCommand(request, folder);
    case WorkerOp::Run:
      return runCommand(request, folder);
    case WorkerOp::Time:
    case WorkerOp::Specialise:
      return timeCommand(request, folder);
    case WorkerOp::Compare:
      return compareCommand(request, folder);
    case WorkerOp::MeasureError:
    case WorkerOp::Errors:
    case WorkerOp::Bisect:
      return errorsCommand(request, folder);
    case WorkerOp::Value:
      return tensorCommand(request, folder);
    case WorkerOp::Tune:
      return tuneCommand(request, folder);
    case WorkerOp::Calibrate:
      return calibrateCommand(request, folder);
    case WorkerOp::Export:
      return exportCommand(request, folder);
    case WorkerOp::Cancel:
    case WorkerOp::Shutdown:
      break;
  }
  return Diagnostic{.message = fmt::format("no command does what {} does", name(request.op))};
}

}  // namespace

std::string CommandLine::text() const {
  std::vector<std::string> texts;
  for (const auto& command : commands) {
    std::vector<std::string> quoted;
    std::ranges::transform(command, std::back_inserter(quoted), shellQuoted);
    texts.push_back(joined(quoted, " "));
  }
  return joined(texts, " && ");
}

CommandLine& CommandLine::then(CommandLine next) {
  std::ranges::move(next.commands, std::back_inserter(commands));
  for (CommandFile& file : next.files)
    if (std::ranges::find(files, file) == files.end()) files.push_back(std::move(file));
  return *this;
}

CommandLine commandToPlan(const WorkSource& source, const fs::path& folder) {
  return CommandWords("plan", folder).model(source).line();
}

CommandLine commandToExplain(const WorkSource& source, const std::string& node, const fs::path& folder) {
  return CommandWords("explain", folder).path(source.path).word(node).planned(source).line();
}

Result<CommandLine> commandToDiff(const WorkSource& a, const WorkSource& b, const fs::path& folder) {
  CommandWords words("diff", folder);
  words.path(a.path).path(b.path);
  if (a.options == b.options && a.inputs == b.inputs) return words.planned(a).line();
  CommandLine line = words.line();
  for (const auto& [option, side] : {std::pair("--plan-a", &a), std::pair("--plan-b", &b)}) {
    PlanWords plan = TRY(planWordsInOneWord(*side, folder));
    if (plan.words.empty()) continue;
    line.commands.front().push_back(std::string(option) + "=" + plan.words.front());
    line.then({{}, std::move(plan.files)});
  }
  return line;
}

Result<CommandLine> commandFor(const WorkerRequest& request, const fs::path& folder, const Words& more) {
  CommandLine line = TRY(lineOf(request, folder));
  Words& words = line.commands.back();
  words.insert(words.end(), more.begin(), more.end());
  return line;
}

Status writeFiles(const CommandLine& line) {
  for (const CommandFile& file : line.files) {
    std::error_code error;
    if (fs::exists(file.path, error)) continue;  // its name says what is in it
    fs::create_directories(fs::path(file.path).parent_path(), error);
    TRY(writeFileAtomically(file.path, file.text));
  }
  return Done{};
}

}  // namespace fusescope
