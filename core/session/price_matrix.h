#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "compilers/tensorrt/engine_builds.h"
#include "planning/read_back/read_back_plan.h"
#include "session/engine_prices.h"

namespace fusescope {

/// An engine in a table.
struct PriceColumn {
  std::string label;         ///< the name of its file
  EnginePriceOrigin origin;  ///< the source of its times
  std::optional<double> kernelsMs{}, conversionsMs{}, latencyMs{};
};

/// The total time of the kernels of one engine that cover the nodes of a row.
struct PriceCell {
  std::optional<double> ms{};          ///< null: the engine has no kernel for them, or a time is missing
  std::vector<DataType> types{};       ///< the types in which they calculate, as far as they are known
  std::vector<std::string> kernels{};  ///< their names
};

/// The shortest time of the nodes of a row in one type.
struct TypePrice {
  double ms = 0;
  std::size_t column = 0;   ///< the engine in which it was measured
  std::size_t kernels = 1;  ///< the number of kernels of that engine that it includes
};

/// The nodes of a row: the smallest set that every engine covers with kernels of its own.
struct PriceRow {
  std::vector<std::string> nodes{};        ///< names in the first engine's network
  std::vector<PriceCell> cells{};          ///< for each column
  std::map<DataType, TypePrice> byType{};  ///< from cells whose kernels all calculate in one type
  std::vector<DataType> missing{};         ///< types of the table in which no engine has measured these nodes
};

/// The times of the layers of one network in each type, measured by several of its engines.
struct PriceMatrix {
  std::vector<DataType> types;
  std::vector<PriceColumn> columns;
  std::vector<PriceRow> rows;       ///< in the order of the first engine's kernels
  std::vector<EngineBuild> builds;  ///< builds that would measure what is missing
  std::vector<std::string> notes;   ///< what a reader must know about the times, in sentences
};

/// Makes the table. `engines` must be of one network, each with its file; they are matched by nodes, whatever their
/// names. `types` are those to list; empty: f32, f16 and all others in which an engine calculates. Nothing is run.
/// Errors: an engine has no network or no times; two are of different networks, devices or extents.
Result<PriceMatrix> priceMatrix(const std::vector<std::pair<std::string, std::shared_ptr<const ReadBackPlan>>>& engines,
                                std::vector<DataType> types = {});
/// Sets PriceRow::missing, and PriceMatrix::builds: for each missing type one build of the network `model` for
/// `target`, with all layers in that type, or with the layers pinned to it that lack a time.
void addMissing(PriceMatrix& matrix, const std::string& model, const std::string& target);
Json toJson(const PriceMatrix& matrix);  ///< the format is described in ENGINE_PRICES_FORMAT.md

}  // namespace fusescope
