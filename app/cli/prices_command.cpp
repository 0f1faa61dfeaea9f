// `prices` prints the times of a network's layers in each type, as its engines measured them, and which of these prices
// plans use.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/text.h"
#include "session/engine_prices.h"
#include "session/open_artifact.h"
#include "session/operations/prices_operation.h"
#include "session/price_matrix.h"

namespace fusescope::cli {
namespace {

/// The number of nodes of one build that are named for people; --json lists all of them.
constexpr std::size_t kMostNodes = 4;

using PricesArguments = ArgumentsOf<PricesSettings>;

std::string cellText(const PriceRow& row, DataType type, bool several) {
  const auto known = row.byType.find(type);
  if (known == row.byType.end()) return "-";
  std::string text = msText(known->second.ms);
  if (several) text += fmt::format(" [{}]", known->second.column + 1);
  return known->second.kernels > 1 ? text + fmt::format(" in {} kernels", known->second.kernels) : text;
}

/// Returns the text about cells without a single type: their kernels calculate in several types, or do not report their
/// type.
std::string otherText(const PriceRow& row) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const PriceCell& cell = row.cells[i];
    if (!cell.ms || cell.types.size() == 1) continue;
    std::vector<std::string> types;
    for (const DataType type : cell.types) types.push_back(toText(type));
    others.push_back(fmt::format("{} [{}] in {}", msText(cell.ms), i + 1,
                                 types.empty() ? "types that are not reported" : joined(types, " and ")));
  }
  return joined(others);
}

void printMatrix(const PriceMatrix& matrix) {
  printTitle("Engines");
  Table engines({{"#", true}, {"file"}, {"measured by"}, {"kernels", true}, {"conversions", true}, {"a run", true}});
  for (std::size_t i = 0; i < matrix.columns.size(); ++i) {
    const PriceColumn& column = matrix.columns[i];
    engines.add({std::to_string(i + 1), shortened(column.label, 40), column.origin.text(), msText(column.kernelsMs),
                 msText(column.conversionsMs), msText(column.latencyMs)});
  }
  engines.print();
  printTitle("Times of the layers by the type in which their kernels calculate; the engine is in brackets");
  std::vector<Table::Column> columns{{"nodes"}};
  for (const DataType type : matrix.types) columns.push_back({toText(type), true});
  columns.push_back({"in other types"});
  Table table(std::move(columns));
  for (const PriceRow& row : matrix.rows) {
    std::vector<std::string> cells{shortened(joined(row.nodes, " + "), 44)};
    for (const DataType type : matrix.types) cells.push_back(cellText(row, type, matrix.columns.size() > 1));
    cells.push_back(otherText(row));
    table.add(std::move(cells));
  }
  table.print();
  for (const std::string& note : matrix.notes) std::cout << note << "\n";
  std::cout
      << "conversions between layers are counted separately: what a layer gains in another type may be lost by them\n";
}

void printBuilds(const PriceMatrix& matrix) {
  if (matrix.builds.empty()) {
    std::cout << "nothing is missing: each layer was measured in each of these types\n";
    return;
  }
  for (const EngineBuild& build : matrix.builds) {
    std::vector<std::string> nodes = build.nodes;
    nodes.resize(std::min(nodes.size(), kMostNodes));
    const std::size_t more = build.nodes.size() - nodes.size();
    const std::string of =
        nodes.empty() ? "all layers" : joined(nodes) + (more > 0 ? fmt::format(" and {} more", more) : "");
    printTitle(fmt::format("Missing: {} of {}; these commands supply it", toText(build.type), of));
    for (const std::string& command : build.commands) std::cout << "  " << command << "\n";
    if (!build.note.empty()) std::cout << "  " << build.note << "\n";
  }
}

/// Reads a saved plan that contains a compiler's read-back plan.
Result<std::shared_ptr<const ReadBackPlan>> engineOf(const std::string& path) {
  const Artifact artifact = TRY(openArtifact(path, {}, {}, "", {}, progressLine()));
  clearProgressLine();
  if (artifact.made != nullptr) return artifact.made;
  return Diagnostic{
      .message = "this file contains no read-back plan of an engine, so it has no times of kernels",
      .where = {.file = path},
      .help = "Write such a file with: fusescope import-engine MODEL.onnx --layers … --profile … -o F.json."};
}

Result<int> showKept(bool json) {
  const std::vector<EnginePriceTable> tables = keptEnginePrices();
  if (json) {
    Json list = Json::array();
    for (const EnginePriceTable& table : tables) list.push_back(toJson(table));
    printJson({{"format", "fusescope.kept_prices"}, {"version", 1}, {"tables", std::move(list)}});
    return kDone;
  }
  Table table({{"network"}, {"target"}, {"measured by"}, {"kernels", true}, {"kept"}});
  for (const EnginePriceTable& known : tables)
    table.add({shortened(known.model, 48), known.origin.target, known.origin.text(),
               std::to_string(known.kernels.size()), known.origin.kept});
  if (table.empty()) std::cout << "no prices of engines are kept: fusescope prices ENGINE.json … --keep\n";
  table.print();
  return kDone;
}

Result<int> forgetOf(const std::string& model, bool json) {
  const std::size_t count = TRY(forgetEnginePrices(model));
  if (json)
    printJson({{"format", "fusescope.forgotten_prices"}, {"version", 1}, {"model", model}, {"forgotten", count}});
  else
    std::cout << fmt::format("{} forgotten\n", counted(static_cast<std::int64_t>(count), "table"));
  return count > 0 ? kDone : kDoesNotHold;
}

Result<std::vector<DataType>> typesIn(const std::string& text) {
  std::vector<DataType> types;
  if (text.empty()) return types;
  for (const std::string& name : split(text, ',')) {
    const auto type = dataTypeFromName(name);
    if (!type) return Diagnostic{.message = "'" + name + "' is not a type", .where = {.attribute = "--types"}};
    types.push_back(*type);
  }
  return types;
}

Result<int> showPrices(const PricesArguments& arguments) {
  if (!arguments.forget.empty()) return forgetOf(arguments.forget, arguments.json);
  if (arguments.kept) return showKept(arguments.json);
  if (arguments.engines.empty())
    return Diagnostic{.message = "the engines to read are missing",
                      .where = {.attribute = "ENGINE"},
                      .help = "Give plans that import-engine wrote with -o, or --kept for the prices that plans have."};
  const std::vector<DataType> types = TRY(typesIn(arguments.types));
  std::vector<std::pair<std::string, std::shared_ptr<const ReadBackPlan>>> engines;
  for (const std::string& path : arguments.engines) {
    auto made = TRY(engineOf(path));
    engines.emplace_back(path, std::move(made));
  }
  const PriceMatrix matrix = TRY(priceMatrix(engines, types));
  if (arguments.keep)
    for (const auto& [path, made] : engines) {
      EnginePriceTable table = TRY(enginePrices(*made));
      TRY(keepEnginePrices(std::move(table)));
    }
  if (arguments.json) {
    printJson(toJson(matrix));
    return kDone;
  }
  printMatrix(matrix);
  printBuilds(matrix);
  if (arguments.keep)
    std::cout << fmt::format("kept: plans of these networks for {} use these times from now on\n",
                             matrix.columns.front().origin.target);
  return kDone;
}

}  // namespace

Command pricesCommand(CLI::App& app) {
  return commandOf<PricesSettings>(app, pricesOperation(), showPrices);
}

}  // namespace fusescope::cli
