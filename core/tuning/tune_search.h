#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tuning/tune_goal.h"
#include "tuning/tune_oracle.h"

namespace fusescope {

/// The result of a search method of another tool.
struct TuneBaseline {
  std::string name;                ///< "prefix", "suffix", "greedy"
  std::optional<TunePoint> found;  ///< nothing if it finds no set that is good enough, or did not before it ended
  std::int64_t evaluations = 0;    ///< the number that it needs by itself, or needed until it was ended
  TuneEnd end = TuneEnd::Finished;
};

struct TuneResult {
  bool ok = false;   ///< `chosen` meets the goal
  TunePoint chosen;  ///< the best set that meets the goal; if there is none, the set with the smallest error
  TunePoint unpinned, allPinned;
  std::vector<TunePoint> front;  ///< sets for which no other has less error, lower cost and fewer pins; sorted by error
  std::vector<TuneBaseline> baselines;
  struct Without {
    std::uint32_t pin = 0;
    double error = 0;
    bool slower = false;  ///< slower than noSlowerThan
  };
  std::vector<Without> without;  ///< for each chosen pin, if it was tried
  /// Set if a smaller set of pins meets the goal, but is slower than the result of another search method or than
  /// everything pinned. `chosen` then costs at most this.
  std::optional<PlanCost> noSlowerThan;
  /// The smallest set of pins that meets the goal, if the network with everything pinned is faster (by known times) and
  /// has at most the same error. `chosen` is then another set, which is not slower than everything pinned.
  std::optional<TunePoint> beatenByAllPinned;
  /// It was tried for each pin that without it the goal is not met, or the network is slower than allowed.
  bool minimal = false;
  std::int64_t evaluations = 0;  ///< of this search; evaluations of other methods beyond its limits are not counted
  TuneEnd end = TuneEnd::Finished;
};

/// Finds a small set of pins with which the network meets `goal`. The result depends only on the answers of the oracle
/// and on `goal`. Several sets are reduced until no pin can be removed, and the smallest is chosen, or the cheapest of
/// equally small ones. These sets are: (1) the nodes whose lowering alone does most harm relative to the cost of
/// pinning them, as many as are needed; (2) the results of bisection from both ends and of greedy ranking; (3) all
/// nodes, removed in other orders. The result is therefore never larger than those of the other methods, with one
/// exception: if the smallest set is slower, by known times, than the best of those or than everything pinned, the
/// smallest set that is not slower is chosen. So everything pinned is never better in both time and error. A set that
/// would be chosen is also checked on the reference (TuneOracle::hasReference()); if it fails there, the search
/// continues. `memory` contains evaluations of an earlier search and gets those of this one; they count against the
/// limits again. Errors are those of the oracle.
Result<TuneResult> tuneSearch(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory,
                              const OnBetter& onBetter = {});

}  // namespace fusescope
