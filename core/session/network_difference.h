#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// The comparison of two networks, the second of which should be the first with other weights.
struct WeightsComparison {
  /// The differences other than weights, each located at the node, value or attribute of the second network's file,
  /// with help; empty: they are the same network. There are at most kMostDifferences.
  std::vector<Diagnostic> differences;
  std::int64_t constants = 0;        ///< number of constants in both
  std::int64_t bytes = 0;            ///< bytes of all constants
  std::vector<std::string> changed;  ///< the constants whose numbers differ; for a body "HOLDER/NAME"
  std::int64_t changedBytes = 0;     ///< bytes of the changed constants

  bool isSameNetwork() const { return differences.empty(); }
};

/// The largest number of differences that are reported, because another network differs everywhere.
constexpr std::size_t kMostDifferences = 20;

/// Whether the numbers of constants are compared. LeftOut is for a first network whose file was overwritten meanwhile.
enum class Numbers { Compared, LeftOut };

/// Compares inputs with their extents, outputs, nodes with their attributes, connections, types, conditions and bodies,
/// by their names, and the numbers of constants. Both must have been opened with the same options. It is a pure
/// function.
WeightsComparison compareExceptWeights(const Model& former, const Model& given, Numbers numbers = Numbers::Compared);

}  // namespace fusescope
