#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "planning/prices/price.h"

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
/// Returns whether `a` is cheaper than `b`. A plan whose prices are all known is cheaper than one with unknown prices.
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
  /// Returns whether a chosen set must also be good enough on the reference, because error() was measured on something
  /// else.
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

}  // namespace fusescope
