#include <algorithm>

#include "session/price_matrix.h"

namespace fusescope {
namespace {

/// A layer that no engine calculates in a type need not be measured in that type, and one that none calculates in
/// integers need not be a product of codes.
void addMissingOf(PriceRow& row, const std::vector<DataType>& types) {
  const auto isTyped = [](const PriceCell& cell) { return !cell.types.empty(); };
  const auto hasCodes = [](const PriceCell& cell) {
    return std::ranges::any_of(cell.types, [](DataType type) { return !isFloat(type); });
  };
  if (std::ranges::none_of(row.cells, isTyped)) return;
  for (const DataType type : types)
    if ((isFloat(type) || std::ranges::any_of(row.cells, hasCodes)) && !row.byType.contains(type))
      row.missing.push_back(type);
}

}  // namespace

void addMissing(PriceMatrix& matrix, const std::string& model, const std::string& target) {
  for (PriceRow& row : matrix.rows) addMissingOf(row, matrix.types);
  const auto lists = [&](DataType type) { return std::ranges::find(matrix.types, type) != matrix.types.end(); };
  const BuiltNetwork network{.path = model,
                             .target = target,
                             .lowest = lists(DataType::BF16) && !lists(DataType::F16) ? DataType::BF16 : DataType::F16};
  for (const DataType type : matrix.types) {
    std::vector<std::string> nodes;
    bool isMeasured = false;
    for (const PriceRow& row : matrix.rows) {
      isMeasured = isMeasured || row.byType.contains(type);
      if (std::ranges::find(row.missing, type) != row.missing.end())
        nodes.insert(nodes.end(), row.nodes.begin(), row.nodes.end());
    }
    if (nodes.empty()) continue;
    if (!isMeasured || !isFloat(type)) nodes.clear();  // a build with only this type measures all of them
    matrix.builds.push_back(engineBuild(network, type, std::move(nodes)));
  }
}

}  // namespace fusescope
