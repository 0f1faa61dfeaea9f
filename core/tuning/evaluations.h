#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tuning/tune_goal.h"
#include "tuning/tune_oracle.h"

namespace fusescope {

/// The evaluations of a search so far. Every effect is evaluated once, within the limits of the goal.
class Evaluations {
 public:
  Evaluations(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory, OnBetter onBetter);

  TuneOracle& oracle() { return m_oracle; }
  const TuneGoal& goal() const { return m_goal; }
  /// Evaluates `pins`. The result is a cancellation if a limit was reached or the user stopped the search; end() says
  /// which.
  Result<TunePoint> evaluate(const PinSet& pins);
  Result<PinnedPlan> plan(const PinSet& pins);
  /// Returns whether `point`, which was evaluated, meets the goal on the reference as well, and adds the error on the
  /// reference to it. With `Known`, the reference is not run: if the answer is not known from before, it is false.
  enum class Ask { Reference, Known };
  Result<bool> meetsOnReference(TunePoint& point, Ask ask);
  /// From now on, every set that meets the goal is also checked on the reference, and not only sets that are better
  /// than the best.
  void checkAllOnReference(bool all) { m_checksAllOnReference = all; }
  /// Returns the point of a set that was evaluated, or that has the same effect as one.
  std::optional<TunePoint> known(const PinSet& pins);
  bool meets(const TunePoint& point) const;
  /// Returns whether `a` is better than `b`; both meet the goal, or neither does.
  bool better(const TunePoint& a, const TunePoint& b) const;
  /// From now on, only sets with at most this error meet the goal.
  void setMaxError(double error) { m_goal.maxError = error; }
  /// Sets the point with everything pinned, relative to which speed-ups are given.
  void setAllPinned(const TunePoint& allPinned) { m_allPinned = allPinned; }

  const std::optional<TunePoint>& best() const { return m_best; }  ///< the best of those that meet the goal
  const std::optional<TunePoint>& leastError() const { return m_leastError; }
  std::vector<TunePoint> front() const { return m_front; }
  std::int64_t count() const { return m_count; }
  /// Returns how many evaluations were requested since the last call, including those that were known.
  std::int64_t takeAsked();
  TuneEnd end() const { return m_end; }
  /// From now on, the limits of the goal count from zero.
  void renewLimits();

 private:
  void take(const TunePoint& point);
  void addToFront(const TunePoint& point);
  bool isBest(const TunePoint& point) const { return meets(point) && (!m_best || better(point, *m_best)); }
  Status checkLimits();
  bool isOverTime() const;
  Diagnostic ended(const Diagnostic& error);

  TuneOracle& m_oracle;
  TuneGoal m_goal;
  TuneMemory& m_memory;
  OnBetter m_onBetter;
  std::chrono::steady_clock::time_point m_begin = std::chrono::steady_clock::now();
  std::map<PinSet, PinnedPlan> m_plans;
  /// The errors of this search. If a set was also checked on the reference, its error is the larger one.
  std::map<Hash128, double> m_errors;
  std::set<Hash128> m_asked;
  std::optional<TunePoint> m_best, m_leastError, m_allPinned;
  std::vector<TunePoint> m_front;
  std::int64_t m_count = 0, m_countAtBegin = 0;
  bool m_checksAllOnReference = false;
  TuneEnd m_end = TuneEnd::Finished;
};

}  // namespace fusescope
