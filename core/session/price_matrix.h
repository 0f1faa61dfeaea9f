#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compilers/tensorrt/engine_builds.h"
#include "planning/read_back_plan.h"
#include "session/engine_prices.h"

namespace fusescope {

/// One engine of a table.
struct PriceColumn {
  std::string label;         ///< the file
  EnginePriceOrigin origin;  ///< where its times come from
  std::optional<double> kernelsMs{}, conversionsMs{}, latencyMs{};
};

/// What the kernels of one engine that cover the nodes of a row take together.
struct PriceCell {
  std::optional<double> ms{};          ///< null: the engine has no kernel for them, or tells no time of one
  std::vector<DataType> types{};       ///< that they calculate in, as far as it is told
  std::vector<std::string> kernels{};  ///< their names
};

/// The least time of the nodes of a row in one type.
struct TypePrice {
  double ms = 0;
  std::size_t column = 0;   ///< of the engine that it was measured in
  std::size_t kernels = 1;  ///< over how many kernels of that engine
};

/// Nodes that every engine covers by kernels of their own: the smallest such set.
struct PriceRow {
  std::vector<std::string> nodes{};        ///< of the first engine's network
  std::vector<PriceCell> cells{};          ///< by column
  std::map<DataType, TypePrice> byType{};  ///< of cells of which all kernels calculate in one type
  std::vector<DataType> missing{};         ///< types of the table that no engine has measured these nodes in
};

/// What the layers of one network take in each type, as several engines of it measured.
struct PriceMatrix {
  std::vector<DataType> types;
  std::vector<PriceColumn> columns;
  std::vector<PriceRow> rows;       ///< in the order of the first engine's kernels
  std::vector<EngineBuild> builds;  ///< that measure what is missing
  std::vector<std::string> notes;   ///< what a reader must know of the times, in sentences
};

/// `engines` are of one network, each with its file: by its nodes, whatever they are called. `types`: those to list;
/// empty: f32, f16 and all others that an engine calculates in. Nothing is run. Errors: an engine has no network or no
/// times; two are of different networks, devices or extents.
Result<PriceMatrix> priceMatrix(const std::vector<std::pair<std::string, std::shared_ptr<const ReadBackPlan>>>& engines,
                                std::vector<DataType> types = {});
/// Fills PriceRow::missing, and PriceMatrix::builds: of each missing type one build of the network `model` for
/// `target`, of all layers, or with those pinned that lack it.
void addMissing(PriceMatrix& matrix, const std::string& model, const std::string& target);
Json toJson(const PriceMatrix& matrix);  ///< ENGINE_PRICES_FORMAT.md

}  // namespace fusescope
