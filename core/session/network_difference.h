#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/model.h"

namespace fusescope {

/// Two networks of which the second is to be the first with other weights.
struct ButForWeights {
  /// In what else they differ, each located at the node, value or attribute of the second network's file, with what
  /// would help; none: they are the same network. At most kMostDifferences.
  std::vector<Diagnostic> differences;
  std::int64_t constants = 0;        ///< of both
  std::int64_t bytes = 0;            ///< of all constants
  std::vector<std::string> changed;  ///< the constants whose numbers differ; in a body "HOLDER/NAME"
  std::int64_t changedBytes = 0;     ///< of these

  bool isSameNetwork() const { return differences.empty(); }
};

/// So many differences are told: what is another network differs everywhere.
constexpr std::size_t kMostDifferences = 20;

/// Whether the numbers of constants are compared: not where the first network's file was written over meanwhile.
enum class Numbers { Compared, LeftOut };

/// Compares inputs with their extents, outputs, nodes with their attributes, wiring, types, conditions and bodies, by
/// the names that they have in both, and the numbers of constants. Both must have been opened alike. Pure.
ButForWeights compareButForWeights(const Model& former, const Model& given, Numbers numbers = Numbers::Compared);

}  // namespace fusescope
