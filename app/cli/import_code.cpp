#include "app/cli/import_code.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "app/cli/command.h"
#include "base/visible_text.h"
#include "compilers/torch/torch_job.h"
#include "frontends/torch/kept_network.h"
#include "session/open_model.h"
#include "session/options_json.h"

namespace fusescope::cli {
namespace {

Result<std::vector<TorchScriptInput>> inputsOf(const ImportSettings& arguments) {
  std::vector<TorchScriptInput> inputs;
  for (const std::string& text : arguments.scriptInputs) {
    const InputOverride said = TRY(parseInputOption(text));
    if (std::ranges::find(inputs, said.name, &TorchScriptInput::name) != inputs.end())
      return Diagnostic{.message = fmt::format("{} is given twice", said.name), .where = {.attribute = "--input"}};
    if (!said.fixed)
      return Diagnostic{
          .message = fmt::format("'{}' gives no extents, which a TorchScript file does not contain", text),
          .where = {.attribute = "--input"},
          .help = "Give one number for each axis: --input ids=1,128:int64."};
    inputs.push_back({.name = said.name,
                      .type = said.dtype.value_or(DataType::F32),
                      .dims = {said.fixed->begin(), said.fixed->end()}});
  }
  return inputs;
}

/// Describes what is to be run and by which Python, so that the user can look at it first.
std::string codeInWords(const CodeToRun& code, const std::string& python) {
  const std::string what =
      code.kind == CodeKind::Script
          ? fmt::format("the Python in it and what that imports, and its function {}()", code.function)
          : std::string("the TorchScript in it");
  // The name of a file may contain characters that move the cursor of a terminal.
  return fmt::format("  file     {}\n  SHA-256  {}\n  runs     {}, with all your permissions\n  by       {}\n",
                     visibleText(code.file.string()), code.sha256, what, visibleText(python));
}

Diagnostic notRun(const CodeToRun& code, const char* why, std::string help) {
  return {.message = fmt::format("is code that torch would run, and {}: nothing was run", why),
          .where = {.file = code.file.string()},
          .help = std::move(help)};
}

/// Asks on the terminal whether exactly this content is to be run.
Status confirmCode(const CodeToRun& code, const std::string& environment, bool isConfirmed) {
  if (isConfirmed) return Done{};
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0)
    return notRun(code, "there is no terminal to ask on",
                  fmt::format("If you trust the file, give --run-code. Its SHA-256 is {}.", code.sha256));
  const std::string python = TRY(environmentOfTorch(environment, {})).command;
  std::cerr << "torch makes a program of this code by running it:\n"
            << codeInWords(code, python) << "Run it? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  std::ranges::transform(answer, answer.begin(), [](unsigned char each) { return std::tolower(each); });
  if (answer == "y" || answer == "yes") return Done{};
  return notRun(code, "you did not confirm it", {});
}

}  // namespace

Status checkNoCode(const ImportSettings& arguments) {
  const char* given = !arguments.into.empty()           ? "--output"
                      : arguments.overwrites            ? "--overwrite"
                      : arguments.isConfirmed           ? "--run-code"
                      : arguments.breaks                ? "--breaks"
                      : !arguments.scriptInputs.empty() ? "--input"
                                                        : nullptr;
  if (given == nullptr) return Done{};
  return Diagnostic{.message = "is only for a function of a script (SCRIPT.py:FUNCTION) or a TorchScript file",
                    .where = {.attribute = given}};
}

Result<CapturedProgram> captureConfirmed(const CodeToRun& code, const ImportSettings& arguments,
                                         const std::string& environment, const Progress& progress) {
  CaptureOptions options{.environment = environment,
                         .into = arguments.into,
                         .overwrites = arguments.overwrites,
                         .breaks = arguments.breaks};
  options.inputs = TRY(inputsOf(arguments));
  TRY(checkCapture(code, options));
  TRY(confirmCode(code, environment, arguments.isConfirmed));
  options.confirmed = code.sha256;
  return captureProgram(code, options, {}, progress);
}

Json capturedJson(const CodeToRun& code, const CapturedProgram& captured) {
  const auto orNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json decisions = Json::array();
  for (const Decision& decision : captured.decisions) decisions.push_back(toJson(decision));
  return {{"format", "fusescope.import"},
          {"version", 1},
          {"program", orNull(captured.program.string())},
          {"network", orNull(captured.network.string())},
          {kTorchVersion, captured.torch},
          {"captured",
           {{"kind", code.kind == CodeKind::Script ? "script" : "torchscript"},
            {"file", code.file.string()},
            {"function", orNull(code.function)},
            {"sha256", code.sha256},
            {"way", orNull(captured.way)},
            {"problem", captured.problem ? Json(captured.problem->text()) : Json()},
            {"decisions", decisions}}}};
}

void printCaptured(const CapturedProgram& captured) {
  for (const Decision& decision : captured.decisions) {
    std::cout << message(decision) << "\n";
    for (const DecisionArgument& hint : decision.arguments["hints"].list())
      if (hint.text() != nullptr) std::cout << "    " << *hint.text() << "\n";
  }
  if (!captured.program.empty()) std::cout << "written: " << captured.program.string() << "\n";
  if (!captured.network.empty())
    std::cout << fmt::format("written: {}, which opens and runs as it is\n", captured.network.string());
}

Diagnostic withoutNetwork(Diagnostic error, const std::filesystem::path& program) {
  if (error.cancelled) return error;
  error.help += fmt::format("{}The program is kept in {}.", error.help.empty() ? "" : " ", program.string());
  return error;
}

}  // namespace fusescope::cli
