#pragma once

#include <functional>
#include <optional>

#include "tuning/exported_check.h"
#include "tuning/tune_search.h"

namespace fusescope {

/// Exports the network with these pins and checks it. A cancellation ends the search.
using CheckExported = std::function<Result<ExportedCheck>(const PinSet& pins)>;

struct ExportedSearch {
  TuneResult result;
  std::optional<double> heldTo{};  ///< the largest allowed error in the last search, at most that of the goal
  /// The check of result.chosen; nothing if there was none, or if it was cancelled.
  std::optional<ExportedCheck> exported{};
};

/// Runs tuneSearch() for a goal with a largest error, which the result must also meet after it is exported. If a set
/// does not meet it, the next search allows a smaller error, until a set meets it or several did not. The goal's time
/// limit is for all searches together; the set that is known when it is reached is still checked, within another time
/// of the same length.
Result<ExportedSearch> tuneSearchExported(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory,
                                          const OnBetter& onBetter, const CheckExported& check);

}  // namespace fusescope
