#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "planning/price.h"
#include "tuning/tune_goal.h"

namespace fusescope {

/// Indices of nodes that can be pinned, in the order of the graph.
using PinSet = std::set<std::uint32_t>;

/// What a plan takes, by its prices; where they are not known, by what it converts and moves.
struct PlanCost {
  std::int64_t unknown = 0;  ///< kernels and conversions without a price
  double ms = 0;             ///< of those that have one
  std::int64_t casts = 0;
  std::optional<std::int64_t> bytes = 0;  ///< moved, conversions included; null where an extent is not known
  PriceSource how = PriceSource::Unknown;
  bool operator==(const PlanCost&) const = default;
};
/// By time where it is known, and known before unknown; then fewer conversions, then fewer bytes where
/// both are known.
bool cheaper(const PlanCost& a, const PlanCost& b);

/// A network under some pins, before it is run. Plans of equal effect give equal numbers.
struct PinnedPlan {
  Hash128 effect;
  PlanCost cost;
};

/// What a search asks. Not thread-safe.
class TuneOracle {
 public:
  virtual ~TuneOracle() = default;
  /// How many nodes can be pinned.
  virtual std::uint32_t nodeCount() const = 0;
  /// Every node in exactly one group, in the order of the graph: nodes that one kernel runs.
  virtual const std::vector<PinSet>& groups() const = 0;
  /// For each group: the groups that read values of it or whose values it reads.
  virtual const std::vector<std::vector<std::uint32_t>>& neighbours() const = 0;
  virtual Result<PinnedPlan> plan(const PinSet& pins) = 0;
  /// Of the whole network; infinite where something finite became infinite or NaN. A cancellation ends the search with
  /// the best so far.
  virtual Result<double> error(const PinSet& pins) = 0;
  /// Whether what is chosen must be good enough on the reference, too, where error() was measured on something else.
  virtual bool hasReference() const { return false; }
  /// The error there.
  virtual Result<double> errorOnReference(const PinSet& pins) { return error(pins); }
  /// What is under way when so many seconds from now are over is cancelled then; 0: when the user wishes alone.
  virtual void endAfter(double) {}
  /// From here on most sets that are asked for differ little from this one.
  virtual void startFrom(const PinSet&) {}
};

/// A set of pins that was evaluated.
struct TunePoint {
  PinSet pins;
  double error = NAN;  ///< the larger one of those that are known; not a number: not evaluated
  PlanCost cost;
  double measured = NAN;                ///< TuneOracle::error()
  std::optional<double> onReference{};  ///< TuneOracle::errorOnReference(); nothing: it was not asked
};

/// How a search ended.
enum class TuneEnd { Finished, Evaluations, Seconds, Stopped };
std::string_view name(TuneEnd end);  ///< "finished", "evaluations", "seconds", "stopped"

/// What one of the known searches finds.
struct TuneBaseline {
  std::string name;                ///< "prefix", "suffix", "greedy"
  std::optional<TunePoint> found;  ///< nothing: it does not find a set that is good enough, or has not by its end
  std::int64_t evaluations = 0;    ///< that it needs by itself; so far, where it was ended
  TuneEnd end = TuneEnd::Finished;
};

struct TuneResult {
  bool ok = false;   ///< `chosen` is as the goal asks
  TunePoint chosen;  ///< the best of what is; where nothing is, the one of the least error
  TunePoint unpinned, allPinned;
  std::vector<TunePoint> front;  ///< no other has less error, less cost and fewer pins; by error
  std::vector<TuneBaseline> baselines;
  struct Without {
    std::uint32_t pin = 0;
    double error = 0;
    bool slower = false;  ///< than noSlowerThan
  };
  std::vector<Without> without;  ///< each pin chosen, where that was tried
  /// Set where fewer pins meet the goal and are slower than what a known search finds, or than everything pinned:
  /// `chosen` takes no more than this.
  std::optional<PlanCost> noSlowerThan;
  /// The set of the fewest pins that meets the goal, where with everything pinned the network is faster, by times that
  /// are known, and at least as near to float32: `chosen` is another set then, which takes no more time than that.
  std::optional<TunePoint> beatenByAllPinned;
  bool minimal = false;  ///< without any one of the pins the goal is not met, or it is slower than that: each was tried
  std::int64_t evaluations = 0;  ///< of the search; what known searches take beyond its limits is theirs
  TuneEnd end = TuneEnd::Finished;
};

/// What is known of evaluations from before, by effect, and what is to be told of each new one.
struct TuneMemory {
  std::map<Hash128, double> errors, onReference;
  std::function<void()> added{};  ///< called after each new one; may be empty
  void add(const Hash128& effect, double error) { take(errors, effect, error); }
  void addOnReference(const Hash128& effect, double error) { take(onReference, effect, error); }

 private:
  void take(std::map<Hash128, double>& of, const Hash128& effect, double error) {
    of.insert_or_assign(effect, error);
    if (added) added();
  }
};

/// Called when a better set than all before it is found.
using OnBetter = std::function<void(const TunePoint& point, std::int64_t evaluations)>;

/// Finds few pins with which the network is as good as `goal` says. The outcome depends on the oracle's answers and on
/// `goal` alone. Several sets are made smaller until no pin can be dropped, and the smallest is taken, of equal ones
/// the cheapest: (1) the nodes whose lowering alone does most harm for what pinning them costs, as many as are needed;
/// (2) what bisection from either end and greedy ranking find; (3) all, dropped in other orders. So it is never larger
/// than what those find, except where the smallest set is slower, by times that are known, than the best of those or
/// than everything pinned: then it is the smallest found that is not slower. So everything pinned never beats it in
/// time and in error. A set that would be chosen is held against the goal on the reference, too
/// (TuneOracle::hasReference()): where it fails there, the search goes on. `memory` holds evaluations of an earlier
/// search and takes those of this one; they count again. Errors: those of the oracle.
Result<TuneResult> tuneSearch(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory,
                              const OnBetter& onBetter = {});

}  // namespace fusescope
