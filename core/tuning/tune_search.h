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

/// Indices of nodes that can be pinned, in graph order.
using PinSet = std::set<std::uint32_t>;

/// The cost of a plan: its time if prices are known, and its conversions and bytes.
struct PlanCost {
  std::int64_t unknown = 0;  ///< number of kernels and conversions without a price
  double ms = 0;             ///< time of those with a price
  std::int64_t casts = 0;
  std::optional<std::int64_t> bytes = 0;  ///< bytes that are moved, including conversions; null if an extent is unknown
  PriceSource how = PriceSource::Unknown;
  bool operator==(const PlanCost&) const = default;
};
/// Whether `a` is cheaper than `b`. A plan whose prices are all known is cheaper than one with unknown prices.
/// Otherwise the plan with less time (if all prices are known), then fewer conversions, then fewer bytes (if both are
/// known) is cheaper.
bool cheaper(const PlanCost& a, const PlanCost& b);

/// A network under some pins, before it is run. Plans with the same effect give equal numbers.
struct PinnedPlan {
  Hash128 effect;
  PlanCost cost;
};

/// The questions of a search. Not thread-safe.
class TuneOracle {
 public:
  virtual ~TuneOracle() = default;
  /// Returns how many nodes can be pinned.
  virtual std::uint32_t nodeCount() const = 0;
  /// Returns groups of nodes that one kernel runs, in graph order. Every node is in exactly one group.
  virtual const std::vector<PinSet>& groups() const = 0;
  /// Returns, for each group, the groups that read its values or whose values it reads.
  virtual const std::vector<std::vector<std::uint32_t>>& neighbours() const = 0;
  virtual Result<PinnedPlan> plan(const PinSet& pins) = 0;
  /// Returns the error of the whole network. It is infinite if something finite became infinite or NaN. A cancellation
  /// ends the search with the best result so far.
  virtual Result<double> error(const PinSet& pins) = 0;
  /// Whether a chosen set must also be good enough on the reference, because error() was measured on something else.
  virtual bool hasReference() const { return false; }
  /// Returns the error on the reference.
  virtual Result<double> errorOnReference(const PinSet& pins) { return error(pins); }
  /// Cancels what is running after this number of seconds from now; 0: only the user cancels.
  virtual void stopAfter(double) {}
  /// Announces that most of the following sets differ little from this one.
  virtual void expectSetsNear(const PinSet&) {}
};

/// A set of pins that was evaluated.
struct TunePoint {
  PinSet pins;
  double error = NAN;  ///< the larger of the known errors; NaN if it was not evaluated
  PlanCost cost;
  double measured = NAN;                ///< TuneOracle::error()
  std::optional<double> onReference{};  ///< TuneOracle::errorOnReference(); nothing if it was not asked
};

/// How a search ended.
enum class TuneEnd { Finished, Evaluations, Seconds, Stopped };
std::string_view name(TuneEnd end);  ///< "finished", "evaluations", "seconds", "stopped"

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

/// The evaluations that are known from before, by effect, and a callback for each new one.
struct TuneMemory {
  std::map<Hash128, double> errors, onReference;
  std::function<void()> added{};  ///< called after each new evaluation; may be empty
  void add(const Hash128& effect, double error) { take(errors, effect, error); }
  void addOnReference(const Hash128& effect, double error) { take(onReference, effect, error); }

 private:
  void take(std::map<Hash128, double>& of, const Hash128& effect, double error) {
    of.insert_or_assign(effect, error);
    if (added) added();
  }
};

/// Called when a set is found that is better than all before it.
using OnBetter = std::function<void(const TunePoint& point, std::int64_t evaluations)>;

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
