#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "app/cli/command.h"
#include "app/cli/import_code.h"
#include "app/cli/table.h"
#include "base/shell_quoted.h"
#include "base/text.h"
#include "compilers/probed/environment_choice.h"
#include "compilers/probed/recorded_job.h"
#include "frontends/torch/kept_network.h"
#include "frontends/torch/script_files.h"
#include "session/exported_program_report.h"
#include "session/operations/import_operation.h"

namespace fusescope::cli {
namespace {

using ImportArguments = ArgumentsOf<ImportSettings>;

Result<std::map<std::string, std::string>> namesOf(const ImportArguments& arguments) {
  std::map<std::string, std::string> names;
  for (const std::string& text : arguments.names) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string symbol = text.substr(0, equals), name = text.substr(std::min(equals + 1, text.size()));
    if (!isPythonName(symbol) || !isPythonName(name))
      return Diagnostic{
          .message = fmt::format("'{}' is not of the form SYMBOL=NAME", text),
          .where = {.attribute = "--dim"},
          .help = "A name consists of letters, digits and _: --dim s77=batch. fusescope inspect lists the symbols."};
    if (!names.emplace(symbol, name).second)
      return Diagnostic{.message = fmt::format("{} is given two different names", symbol),
                        .where = {.attribute = "--dim"}};
  }
  return names;
}

/// Confirms the command that starts an environment: by typing it, the user has agreed that it is run.
Status confirmTyped(const std::string& environment) {
  if (environment.empty() || isJobResult(environment)) return Done{};
  const Environment named = TRY(environmentNamed(environment, "--env"));
  return isConfirmed(named.command) ? Status(Done{}) : confirm(named.command);
}

void printForPeople(const Json& made, const std::string& path) {
  std::cout << fmt::format("{} opens as its network from now on, without torch: fusescope plan {}\n", path,
                           shellQuoted(path));
  std::cout << fmt::format(
      "{} by torch {}, onnx {}, onnxscript {}, at opset {}; {} of {} known to be of nodes of the program\n",
      made["is_new"].get<bool>() ? "made now" : "it was made before,", made[kTorchVersion].get<std::string>(),
      made["onnx"].get<std::string>(), made["onnxscript"].get<std::string>(), made["opset"].get<int>(),
      made["tied"].get<std::int64_t>(), counted(made["node_count"].get<std::int64_t>(), "node"));
  Table table({{"extent"}, {"is called"}, {"least", true}, {"most", true}});
  const auto bound = [](const Json& number) { return number.is_null() ? std::string("any") : number.dump(); };
  for (const Json& symbol : made["symbols"])
    table.add({symbol["symbol"].get<std::string>(), symbol["name"].get<std::string>(), bound(symbol["min"]),
               bound(symbol["max"])});
  if (!table.empty()) table.print();
}

/// Asks torch to make a network of the program at `path`. `json` describes how the program was made, if `import` made
/// it. `names` are the author's names for extents, which are used unless the user gives others.
Result<int> importProgram(const ImportArguments& arguments, const std::string& path, Json json,
                          const std::map<std::string, std::string>& names = {}) {
  MakeNetworkOptions options{.environment = arguments.environment, .names = {}};
  options.names = TRY(namesOf(arguments));
  const auto isTaken = [&](const std::string& name) {
    return std::ranges::any_of(options.names, [&](const auto& given) { return given.second == name; });
  };
  for (const auto& [symbol, name] : names)
    if (!isTaken(name)) options.names.emplace(symbol, name);
  const NetworkOfProgram made = TRY(makeNetwork(path, options, {}, progressLine()));
  clearProgressLine();
  json.update(networkOfProgramJson(path, made));
  if (arguments.json)
    printJson(json);
  else
    printForPeople(json, path);
  return kDone;
}

/// Imports code. If torch ran the code and cannot export it, the exit status is 1, and the reasons are printed.
Result<int> importCode(const ImportArguments& arguments, const CodeToRun& code) {
  const CapturedProgram captured = TRY(captureConfirmed(code, arguments, arguments.environment, progressLine()));
  clearProgressLine();
  Json document = capturedJson(code, captured);
  if (!arguments.json) printCaptured(captured);
  if (!captured.program.empty()) {
    const std::string program = captured.program.string();
    auto status = importProgram(arguments, program, std::move(document), captured.extents);
    return status.ok() ? status : withoutNetwork(std::move(status).error(), captured.program);
  }
  if (arguments.json) printJson(document);
  if (captured.problem) std::cerr << "fusescope: " << captured.problem->text() << "\n";
  return captured.problem ? kDoesNotHold : kDone;
}

Result<int> import(const ImportArguments& arguments) {
  TRY(namesOf(arguments));
  const auto code = TRY(codeNamed(arguments.program));
  if (!code) TRY(checkNoCode(arguments));
  TRY(confirmTyped(arguments.environment));
  return code ? importCode(arguments, *code) : importProgram(arguments, arguments.program, Json::object());
}

}  // namespace

Command importCommand(CLI::App& app) {
  return commandOf<ImportSettings>(app, importOperation(), import);
}

}  // namespace fusescope::cli
