#include "tuning/evaluations.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace fusescope {
namespace {

/// Returns whether `a` is nowhere worse than `b`.
bool covers(const TunePoint& a, const TunePoint& b) {
  return a.error <= b.error && a.pins.size() <= b.pins.size() && !cheaper(b.cost, a.cost);
}

}  // namespace

Evaluations::Evaluations(TuneOracle& oracle, const TuneGoal& goal, TuneMemory& memory, OnBetter onBetter)
    : m_oracle(oracle), m_goal(goal), m_memory(memory), m_onBetter(std::move(onBetter)) {
  m_oracle.stopAfter(m_goal.seconds);
}

bool Evaluations::isOverTime() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - m_begin;
  return m_goal.seconds > 0 && passed.count() >= m_goal.seconds;
}

/// Returns `error`, which ends the search if it is a cancellation.
Diagnostic Evaluations::ended(const Diagnostic& error) {
  if (error.cancelled) m_end = isOverTime() ? TuneEnd::Seconds : TuneEnd::Stopped;
  return error;
}

Result<PinnedPlan> Evaluations::plan(const PinSet& pins) {
  const auto found = m_plans.find(pins);
  if (found != m_plans.end()) return found->second;
  auto plan = m_oracle.plan(pins);
  if (!plan.ok()) return ended(plan.error());
  return m_plans.emplace(pins, plan.value()).first->second;
}

Status Evaluations::checkLimits() {
  if (m_goal.evaluations > 0 && m_count - m_countAtBegin >= m_goal.evaluations) {
    m_end = TuneEnd::Evaluations;
    return Diagnostic::cancellation();
  }
  if (isOverTime()) {
    m_end = TuneEnd::Seconds;
    return Diagnostic::cancellation();
  }
  return Done{};
}

void Evaluations::renewLimits() {
  m_begin = std::chrono::steady_clock::now();
  m_oracle.stopAfter(m_goal.seconds);
  m_countAtBegin = m_count;
  m_end = TuneEnd::Finished;
}

Result<TunePoint> Evaluations::evaluate(const PinSet& pins) {
  const PinnedPlan plan = TRY(this->plan(pins));
  m_asked.insert(plan.effect);
  auto error = m_errors.find(plan.effect);
  if (error == m_errors.end()) {
    TRY(checkLimits());
    auto remembered = m_memory.errors.find(plan.effect);
    if (remembered == m_memory.errors.end()) {
      const auto measured = m_oracle.error(pins);
      if (!measured.ok()) return ended(measured.error());
      m_memory.add(plan.effect, measured.value());
      remembered = m_memory.errors.find(plan.effect);
    }
    error = m_errors.emplace(*remembered).first;
    ++m_count;
  }
  TunePoint point{pins, error->second, plan.cost, m_memory.errors.at(plan.effect)};
  if (isBest(point) || (m_checksAllOnReference && meets(point))) TRY(meetsOnReference(point, Ask::Reference));
  take(point);
  return point;
}

Result<bool> Evaluations::meetsOnReference(TunePoint& point, Ask ask) {
  if (!meets(point)) return false;
  const Hash128 effect = TRY(plan(point.pins)).effect;
  auto known = m_memory.onReference.find(effect);
  if (known == m_memory.onReference.end()) {
    if (!m_oracle.hasReference()) return true;
    if (ask == Ask::Known) return false;
    const auto there = m_oracle.errorOnReference(point.pins);
    if (!there.ok()) return ended(there.error());
    m_memory.addOnReference(effect, there.value());
    known = m_memory.onReference.find(effect);
  }
  point.onReference = known->second;
  point.error = std::max(point.error, known->second);
  m_errors[effect] = point.error;
  return meets(point);
}

std::optional<TunePoint> Evaluations::known(const PinSet& pins) {
  const auto plan = m_plans.find(pins);
  if (plan == m_plans.end()) return std::nullopt;
  const auto error = m_errors.find(plan->second.effect);
  if (error == m_errors.end()) return std::nullopt;
  return TunePoint{pins, error->second, plan->second.cost, m_memory.errors.at(plan->second.effect)};
}

bool Evaluations::meets(const TunePoint& point) const {
  if (!std::isfinite(point.error)) return false;
  if (m_goal.maxError && point.error > *m_goal.maxError) return false;
  if (!m_goal.minSpeedup) return true;
  return m_allPinned && point.cost.unknown == 0 && m_allPinned->cost.ms >= *m_goal.minSpeedup * point.cost.ms;
}

bool Evaluations::better(const TunePoint& a, const TunePoint& b) const {
  if (!m_goal.maxError && a.error != b.error) return a.error < b.error;
  if (a.pins.size() != b.pins.size()) return a.pins.size() < b.pins.size();
  if (cheaper(a.cost, b.cost) || cheaper(b.cost, a.cost)) return cheaper(a.cost, b.cost);
  return std::tie(a.error, a.pins) < std::tie(b.error, b.pins);
}

void Evaluations::take(const TunePoint& point) {
  addToFront(point);
  const auto lessError = [](const TunePoint& a, const TunePoint& b) {
    return std::tuple(a.error, a.pins.size()) < std::tuple(b.error, b.pins.size());
  };
  if (!m_leastError || lessError(point, *m_leastError)) m_leastError = point;
  if (!isBest(point)) return;
  m_best = point;
  if (m_onBetter) m_onBetter(point, m_count);
}

void Evaluations::addToFront(const TunePoint& point) {
  if (std::ranges::any_of(m_front, [&](const TunePoint& other) { return covers(other, point); })) return;
  std::erase_if(m_front, [&](const TunePoint& other) { return covers(point, other); });
  m_front.insert(std::ranges::upper_bound(m_front, point.error, {}, &TunePoint::error), point);
}

std::int64_t Evaluations::takeAsked() {
  const auto asked = std::ssize(m_asked);
  m_asked.clear();
  return asked;
}

}  // namespace fusescope
