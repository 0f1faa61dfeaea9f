#include "planning/plan_totals.h"

namespace fusescope {

namespace {

void add(std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& more) {
  sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
}

}  // namespace

PlanTotals totalsWithoutBodies(const Plan& plan) {
  PlanTotals totals;
  for (const FusedNode& fused : plan.fusedNodes) {
    ++totals.fusedNodes;
    add(totals.flops, fused.flops);
    add(totals.bytes, fused.bytes);
  }
  for (const PlannedCast& cast : plan.casts) {
    ++totals.casts;
    add(totals.bytes, cast.bytes);
  }
  return totals;
}

BodyTotals totalsOfBodies(const Plan& plan) {
  BodyTotals totals;
  const auto count = [&](const PlanTotals& more) {
    totals.inside.fusedNodes += more.fusedNodes;
    totals.inside.casts += more.casts;
    add(totals.inside.flops, more.flops);
    add(totals.inside.bytes, more.bytes);
  };
  for (const PlannedBody& body : plan.bodies) {
    ++totals.bodies;
    count(totalsWithoutBodies(*body.plan));
    const BodyTotals deeper = totalsOfBodies(*body.plan);
    totals.bodies += deeper.bodies;
    count(deeper.inside);
  }
  return totals;
}

}  // namespace fusescope
