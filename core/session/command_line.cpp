#include "session/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "session/inputs/sample_source.h"
#include "session/plan_words.h"

namespace fusescope {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The words of one command so far, and the files that it needs.
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
  /// A value that looks like an option is joined to its option with "=".
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
  /// Adds --backend, unless it is the default. Another compiler has no backend, and an engine file has its own.
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

/// Returns "resnet50_ranges.json" for ".../resnet50.onnx". If the file is called model, the name of its folder is used.
std::string besideName(const WorkSource& source, std::string_view ending) {
  const fs::path file(source.path);
  const std::string stem = file.stem().string();
  const std::string folder = file.parent_path().filename().string();
  return (stem == "model" && !folder.empty() ? folder : stem) + std::string(ending);
}

bool isEngine(const WorkSource& source) {
  return fs::path(source.path).extension() == ".fse";
}

/// Returns the words that are the same for all commands that work on the source of a request and may run it.
CommandWords wordsOf(std::string_view verb, const WorkerRequest& request, const fs::path& folder) {
  CommandWords words(verb, folder);
  words.model(request.source).backend(request.source).threads(request.threads);
  return words;
}

CommandLine buildLine(const WorkSource& source, BuildSettings settings, int threads, const fs::path& folder) {
  if (settings.output.empty()) settings.output = besideName(source, ".fse");
  CommandWords words("build", folder);
  return words.model(source).backend(source).threads(threads).words(commandWords(settings)).line();
}

CommandLine lineOf(const WorkerRequest& request, const BuildSettings& settings, const fs::path& folder) {
  BuildSettings whole = settings;
  if (!whole.output.empty()) whole.output = absolutePath(whole.output);
  return buildLine(request.source, whole, request.threads, folder);
}

CommandLine lineOf(const WorkerRequest& request, const RefitSettings& settings, const fs::path& folder) {
  CommandWords words("refit", folder);
  return words.path(settings.engineFile).threads(request.threads).words(commandWords(settings)).line();
}

CommandLine lineOf(const WorkerRequest& request, const TimeSettings& settings, const fs::path& folder) {
  return wordsOf("time", request, folder).words(commandWords(settings)).inputs(request.inputs).line();
}

CommandLine lineOf(const WorkerRequest& request, const RunCommandSettings& settings, const fs::path& folder) {
  return wordsOf("run", request, folder).inputs(request.inputs).words(commandWords(settings)).line();
}

/// Returns the engine file that represents one side of a comparison, and adds the command that makes it.
std::string compared(const WorkSource& source, const std::string& name, int threads, const fs::path& folder,
                     CommandLine& before) {
  const bool asItIs = isEngine(source) || (source.options == PlanOptions() && source.inputs.empty());
  if (asItIs) return absolutePath(source.path);
  before.then(buildLine(source, {.output = name}, threads, folder));
  return name;
}

CommandLine lineOf(const WorkerRequest& request, const CompareSettings& settings, const fs::path& folder) {
  CommandLine line;
  const std::string a = compared(request.source, besideName(request.source, "_a.fse"), request.threads, folder, line);
  const std::string b = compared(request.other, besideName(request.other, "_b.fse"), request.threads, folder, line);
  CommandWords words("compare", folder);
  words.word(a).word(b).words(commandWords(settings)).threads(request.threads).inputs(request.inputs);
  return line.then(words.line());
}

Result<CommandLine> lineOf(const WorkerRequest& request, ErrorsSettings settings, const fs::path& folder) {
  if (request.tolerance.absolute || request.tolerance.relative || !request.tolerance.rms)
    return Diagnostic{
        .message = "the command errors judges by max|Δ| over rms only, but the session judges by other numbers",
        .help = "Choose a tolerance of max|Δ| over rms."};
  settings.rms = request.tolerance.rms;
  return wordsOf("errors", request, folder).inputs(request.inputs).words(commandWords(settings)).line();
}

Result<CommandLine> lineOf(const WorkerRequest& request, const EvaluateSettings&, const fs::path& folder) {
  WorkerRequest onReference = request;
  onReference.source.backend = "reference";
  return lineOf(onReference, ErrorsSettings(), folder);
}

/// The file of the tensor is only for the window.
CommandLine lineOf(const WorkerRequest& request, TensorSettings settings, const fs::path& folder) {
  settings.npz.clear();
  CommandWords words("tensor", folder);
  words.path(request.source.path).word(settings.name).planned(request.source);
  words.backend(request.source).threads(request.threads);
  return words.inputs(request.inputs).words(commandWords(settings)).line();
}

/// The evaluations that the window keeps are only for the window.
CommandLine lineOf(const WorkerRequest& request, TuneSettings settings, const fs::path& folder) {
  settings.state.clear();
  CommandWords words = wordsOf("tune", request, folder);
  words.inputs(request.inputs).words(commandWords(settings));
  return words.option("-o", besideName(request.source, "_pins.json")).line();
}

CommandLine lineOf(const WorkerRequest& request, const CalibrateSettings& settings, const fs::path& folder) {
  CommandWords words = wordsOf("calibrate", request, folder);
  words.inputs(request.inputs).words(commandWords(settings));
  return words.option("-o", besideName(request.source, "_ranges.json")).line();
}

CommandLine lineOf(const WorkerRequest& request, ExportSettings settings, const fs::path& folder) {
  const Exporter* exporter = findExporter(settings.format);
  settings.check = settings.check && exporter != nullptr && exporter->takesSamples;
  if (settings.check) settings.rms = request.tolerance.rms;
  CommandWords words("export", folder);
  words.model(request.source).words(commandWords(settings));
  return (settings.check ? words.inputs(request.inputs) : words).line();
}

Result<CommandLine> lineOf(const WorkerRequest& request, const CancelSettings&, const fs::path&) {
  return Diagnostic{.message = fmt::format("no command does what {} does", operationName(request.settings))};
}
Result<CommandLine> lineOf(const WorkerRequest& request, const ShutdownSettings&, const fs::path& folder) {
  return lineOf(request, CancelSettings(), folder);
}

/// The last command does the work itself.
Result<CommandLine> lineOf(const WorkerRequest& request, const fs::path& folder) {
  return std::visit([&](const auto& settings) -> Result<CommandLine> { return lineOf(request, settings, folder); },
                    request.settings);
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
    if (fs::exists(file.path, error)) continue;  // the file exists already; its name is a hash of its contents
    fs::create_directories(fs::path(file.path).parent_path(), error);
    TRY(writeFileAtomically(file.path, file.text));
  }
  return Done{};
}

}  // namespace fusescope
