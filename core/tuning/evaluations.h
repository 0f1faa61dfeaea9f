#pragma once

#include <chrono>
#include <map>

#include "tuning/tune_search.h"

namespace fusescope {

/// What a search has evaluated so far: every effect once, within the limits of its goal.
class Evaluations {
 public:
  Evaluations(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory, OnBetter onBetter);

  TuneOracle& oracle() { return m_oracle; }
  const TuneGoal& goal() const { return m_goal; }
  /// Evaluates `pins`. A cancellation: a limit is reached, or the user stopped; end() says which.
  Result<TunePoint> evaluate(const PinSet& pins);
  Result<PinnedPlan> plan(const PinSet& pins);
  /// Whether `point`, which was evaluated, meets the goal on the reference as well; its errors say what that gave.
  /// `Known`: as far as that was asked before, else it does not.
  enum class Ask { Reference, Known };
  Result<bool> holds(TunePoint& point, Ask ask);
  /// From here on every set that meets the goal is held against the reference, not only what is better than the best.
  void holdAll(bool all) { m_holdAll = all; }
  /// Of a set that was evaluated, or has the effect of one that was.
  std::optional<TunePoint> known(const PinSet& pins);
  bool meets(const TunePoint& point) const;
  /// The better of two that meet the goal, or of two that do not.
  bool better(const TunePoint& a, const TunePoint& b) const;
  /// From here on, what meets the goal has no more error than this.
  void setMaxError(double error) { m_goal.maxError = error; }
  /// `allPinned`: what speed-ups are told against.
  void setAllPinned(const TunePoint& allPinned) { m_allPinned = allPinned; }

  const std::optional<TunePoint>& best() const { return m_best; }  ///< of those that meet the goal
  const std::optional<TunePoint>& leastError() const { return m_leastError; }
  std::vector<TunePoint> front() const { return m_front; }
  std::int64_t count() const { return m_count; }
  /// How many were asked for since the last call, whether known before or not.
  std::int64_t takeAsked();
  TuneEnd end() const { return m_end; }
  /// From here on the goal's limits count anew.
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
  std::map<Hash128, double> m_errors;  ///< of this search; of what was held against the reference the larger one
  std::set<Hash128> m_asked;
  std::optional<TunePoint> m_best, m_leastError, m_allPinned;
  std::vector<TunePoint> m_front;
  std::int64_t m_count = 0, m_countAtBegin = 0;
  bool m_holdAll = false;
  TuneEnd m_end = TuneEnd::Finished;
};

}  // namespace fusescope
