#include "session/import_engine.h"

#include <fmt/format.h>

#include <iostream>
#include <map>

#include "app/cli/command.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/text.h"
#include "session/operations/import_engine_operation.h"

namespace fusescope::cli {
namespace {

using ImportEngineArguments = ArgumentsOf<ImportEngineSettings>;

/// Prints the decisions that were made while the files were read, the first few of each code.
void printReported(const ReadBackPlan& made) {
  constexpr std::size_t kMostOfOne = 6;
  Table table({{"about"}, {"what the files say"}});
  std::map<std::string, std::size_t> printed;
  for (std::size_t i = made.requested->decisions.size(); i < made.decisions.size(); ++i) {
    const Decision& decision = made.decisions[i];
    if (++printed[decision.code] > kMostOfOne) continue;
    const std::string about = decision.subjects.empty() ? "(the engine)" : decision.subjects.front().text();
    table.add({shortened(about, 40), message(decision)});
  }
  if (table.empty()) return;
  printTitle("Told");
  table.print();
  for (const auto& [code, count] : printed)
    if (count > kMostOfOne) std::cout << fmt::format("  … and {} more of {}\n", count - kMostOfOne, code);
}

/// Writes the network that the log describes, and does nothing else.
Result<int> rebuild(const ImportEngineArguments& arguments) {
  const auto needs = [](std::string message, std::string help) {
    return Diagnostic{.message = std::move(message), .where = {.attribute = "--rebuild"}, .help = std::move(help)};
  };
  if (arguments.log.empty())
    return needs("the log from which the network is rebuilt is missing", "Give it with --log.");
  if (!arguments.model.empty() || !arguments.layers.empty() || !arguments.output.empty())
    return needs("it only writes the network that the log describes",
                 "Afterwards, give import-engine that file with --layers.");
  const RebuiltNetwork network = TRY(rebuildNetwork(arguments.log, arguments.rebuilt));
  if (arguments.json) {
    printJson({{"format", "fusescope.rebuilt"},
               {"version", 1},
               {"path", arguments.rebuilt},
               {"nodes", network.nodes},
               {"unknown", network.unknown},
               {"weights", network.weights}});
    return kDone;
  }
  std::cout << fmt::format("{}: {} as the log describes them, {} without numbers\n", arguments.rebuilt,
                           counted(network.nodes, "node"), counted(network.weights, "weight"));
  if (network.unknown > 0)
    std::cout << fmt::format(
        "of {} the log does not contain everything that the operator needs: they are drawn, but cannot be calculated\n",
        counted(network.unknown, "node"));
  return kDone;
}

Result<int> importAndPrint(const ImportEngineArguments& arguments) {
  if (!arguments.rebuilt.empty()) return rebuild(arguments);
  if (arguments.layers.empty())
    return Diagnostic{.message = "the file with the engine's layers is missing",
                      .where = {.attribute = "--layers"},
                      .help = "It is written by: trtexec --exportLayerInfo=layers.json."};
  const EngineImport request{.model = arguments.model,
                             .files = {arguments.layers, arguments.profile, arguments.times, arguments.log},
                             .inputs = TRY(arguments.plan.inputOverrides()),
                             .options = TRY(arguments.plan.options())};
  if (!arguments.output.empty()) TRY(checkWritable(arguments.output));
  auto imported = importEngine(request, {}, progressLine());
  clearProgressLine();
  const Artifact artifact = TRY(std::move(imported));
  const Json json = toJson(*artifact.made);
  const bool isOfNetwork = artifact.made->placement->placed > 0;
  if (!arguments.output.empty() && isOfNetwork)
    TRY(writeFileAtomically(arguments.output, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  if (arguments.json) {
    printJson(json);
  } else {
    printReadBack(*artifact.made);
    printReported(*artifact.made);
  }
  if (isOfNetwork) return kDone;
  std::cerr << "fusescope: none of the layers could be placed: is this the network from which the engine was built?\n";
  if (!arguments.output.empty()) std::cerr << fmt::format("fusescope: {} was not written\n", arguments.output);
  return kDoesNotHold;
}

}  // namespace

Command importEngineCommand(CLI::App& app) {
  return commandOf<ImportEngineSettings>(app, importEngineOperation(), importAndPrint);
}

}  // namespace fusescope::cli
