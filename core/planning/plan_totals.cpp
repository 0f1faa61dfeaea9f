#include "planning/plan_totals.h"

#include "analysis/cost.h"

namespace fusescope {

namespace {

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& more) {
  sum = knownSum(sum, more);
}
void add(std::optional<double>& sum, const std::optional<double>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

constexpr CostAt kNothing{.flops = 0, .bytes = 0, .ms = 0};

/// Adds a range to a sum. `work` is false for a conversion, which has no work.
void add(std::optional<CostRange>& sum, const std::optional<CostRange>& more, bool work) {
  if (!more) return;
  if (!sum) sum = CostRange{kNothing, kNothing};
  const auto addAt = [&](CostAt& at, const CostAt& moreAt) {
    if (work) add(at.flops, moreAt.flops);
    add(at.bytes, moreAt.bytes);
    add(at.ms, moreAt.ms);
  };
  addAt(sum->least, more->least);
  addAt(sum->most, more->most);
}

}  // namespace

PlanTotals totalsWithoutBodies(const Cover& cover) {
  PlanTotals totals;
  for (const FusedNode& fused : cover.fusedNodes) {
    ++totals.fusedNodes;
    add(totals.flops, fused.flops);
    add(totals.bytes, fused.bytes);
    add(totals.range, fused.range, true);
  }
  for (const PlannedCast& cast : cover.casts) {
    ++totals.casts;
    add(totals.bytes, cast.bytes);
    add(totals.range, cast.range, false);
  }
  return totals;
}

BodyTotals totalsOfBodies(const Cover& cover) {
  BodyTotals totals;
  const auto count = [&](const PlanTotals& more) {
    totals.inside.fusedNodes += more.fusedNodes;
    totals.inside.casts += more.casts;
    add(totals.inside.flops, more.flops);
    add(totals.inside.bytes, more.bytes);
    add(totals.inside.range, more.range, true);
  };
  for (const CoverBody& body : cover.bodies) {
    ++totals.bodies;
    count(totalsWithoutBodies(*body.cover));
    const BodyTotals deeper = totalsOfBodies(*body.cover);
    totals.bodies += deeper.bodies;
    count(deeper.inside);
  }
  return totals;
}

PredictedTime predictedTime(const Cover& cover) {
  PredictedTime time;
  const auto add = [&](const auto& priced) {
    if (!priced.predictedMs) ++time.unknown;
    if (priced.predictedHow == PriceSource::Measured) time.measuredMs += priced.predictedMs.value_or(0);
    if (priced.predictedHow == PriceSource::Fitted) time.fittedMs += priced.predictedMs.value_or(0);
    time.leastMs += priced.predictedMs.value_or(0);
    time.mostMs += priced.predictedMs.value_or(0);
  };
  for (const FusedNode& fused : cover.fusedNodes) {
    const bool ranges = fused.bodyTime && !fused.bodyTime->perIteration && !fused.predictedMs;
    if (!ranges) {
      add(fused);
      continue;
    }
    time.leastMs += fused.bodyTime->leastMs;
    time.mostMs += fused.bodyTime->mostMs;
  }
  for (const PlannedCast& cast : cover.casts) add(cast);
  return time;
}

}  // namespace fusescope
