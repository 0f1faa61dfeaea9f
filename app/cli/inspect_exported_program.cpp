#include "app/cli/inspect_exported_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/cli/table.h"
#include "base/json.h"
#include "base/text.h"
#include "frontends/torch/kept_network.h"
#include "session/exported_program_report.h"

namespace fusescope::cli {
namespace {

constexpr std::size_t kMostModules = 40;

void printArguments(const Json& program) {
  printTitle("Arguments");
  Table table({{"name"}, {"type"}, {"extents"}, {"strides"}, {"in the graph"}});
  for (const Json& argument : program["arguments"]) {
    const bool isConstant = argument["type"].is_null();
    table.add({argument["name"].get<std::string>(),
               isConstant ? "constant " + argument["constant"].dump() : argument["type"].get<std::string>(),
               extentsText(argument["extents"], "-"), extentsText(argument["strides"], "-"),
               argument["value"].get<std::string>()});
  }
  table.print();
}

std::string symbolRangeText(const std::string& symbol, const Json& range) {
  const auto bound = [](const Json& number, const char* none) { return number.is_null() ? none : number.dump(); };
  return fmt::format("{} is from {} to {}", symbol, bound(range["min"], "any number"),
                     bound(range["max"], "any number"));
}

void printExtents(const Json& program) {
  for (const auto& [symbol, range] : program["ranges"].items())
    std::cout << fmt::format("  {}\n", symbolRangeText(symbol, range));
  for (const Json& group : program["equal_extents"]) {
    std::vector<std::string> axes;
    for (const Json& axis : group)
      axes.push_back(fmt::format("{}[{}]", axis["input"].get<std::string>(), axis["axis"].get<std::size_t>()));
    std::cout << fmt::format("  equal extents: {}\n", joined(axes, " = "));
  }
  for (const Json& guard : program["guards"]) std::cout << fmt::format("  guard: {}\n", guard.get<std::string>());
}

void printExamples(const Json& program) {
  std::vector<std::string> texts;
  for (const Json& example : program["examples"])
    texts.push_back(fmt::format("{} {}{}", example["name"].get<std::string>(), example["type"].get<std::string>(),
                                extentsText(example["dims"], "-")));
  if (!program["examples_missing"].is_null())
    std::cout << fmt::format("  no example inputs: {}\n", program["examples_missing"].get<std::string>());
  else
    std::cout << fmt::format("  example inputs: {}, which are used if no others are given\n", joined(texts, ", "));
}

void printAuthorsModules(const Json& modules) {
  if (modules.empty()) return;
  printTitle("The author's modules");
  Table table({{"module"}, {"class"}, {"nodes", true}});
  for (std::size_t i = 0; i < std::min(modules.size(), kMostModules); ++i) {
    const Json& module = modules[i];
    table.add({module["path"].get<std::string>(), module["class"].is_null() ? "-" : module["class"].get<std::string>(),
               std::to_string(module["nodes"].get<std::int64_t>())});
  }
  table.print();
  if (modules.size() > kMostModules)
    std::cout << fmt::format("  and {} more: --json lists them\n", modules.size() - kMostModules);
}

/// Prints which network torch made of the program, or the command that makes one.
void printMade(const Json& program, const std::string& path) {
  const Json& made = program["made"];
  for (const Json& why : program["made_unusable"])
    std::cout << fmt::format("  a network that torch made of it cannot be used: {}\n", why.get<std::string>());
  if (made.is_null())
    std::cout << fmt::format("  {}\n", needsTorchInWords(path));
  else
    std::cout << fmt::format("  opens as the network that torch {} made of it: {} of {} known to be of its nodes\n",
                             made[kTorchVersion].get<std::string>(), made["tied"].get<std::int64_t>(),
                             counted(made["node_count"].get<std::int64_t>(), "node"));
}

}  // namespace

void printExportedProgram(const Json& program, const std::string& path) {
  printTitle("Exported program of PyTorch");
  const std::string version = program["torch_version"].get<std::string>();
  std::cout << fmt::format("  {}, schema {}, written by PyTorch {}\n", program["container"].get<std::string>(),
                           program["schema_version"].get<std::string>(), version.empty() ? "?" : version);
  printMade(program, path);
  printExamples(program);
  printArguments(program);
  printExtents(program);
  printAuthorsModules(program["modules"]);
}

}  // namespace fusescope::cli
