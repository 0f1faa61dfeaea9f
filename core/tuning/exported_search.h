#pragma once

#include <functional>
#include <optional>

#include "tuning/exported_check.h"
#include "tuning/tune_search.h"

namespace fusescope {

/// What becomes of the network with these pins where it is exported. A cancellation ends the search.
using CheckExported = std::function<Result<ExportedCheck>(const PinSet& pins)>;

struct ExportedSearch {
  TuneResult result;
  std::optional<double> heldTo{};           ///< the largest error of the last search, at most the goal's
  std::optional<ExportedCheck> exported{};  ///< of result.chosen; nothing: it was not asked, or it was ended
};

/// tuneSearch() for a goal that has a largest error, which what is found must hold once it is exported, too. A set that
/// does not is no answer: the next search is for less error, until one holds or several did not. The goal's seconds
/// are those of all searches; what is found as they end is still checked, in a time of its own, as long.
Result<ExportedSearch> tuneSearchExported(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory,
                                          const OnBetter& onBetter, const CheckExported& check);

}  // namespace fusescope
