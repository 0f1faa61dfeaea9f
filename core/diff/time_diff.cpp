#include "diff/diff_parts.h"

namespace fusescope {

namespace {

/// Returns the sum of the times of some fused nodes. Its source is that of the least certain time.
std::optional<DiffTime> timeOf(const Cover& plan, const std::vector<std::uint32_t>& fused, const DiffInput& input) {
  if (fused.empty()) return std::nullopt;
  DiffTime sum;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    const std::optional<DiffTime> one = timeOf(plan.fusedNodes[fused[i]], input);
    if (!one) return std::nullopt;
    sum.ms += one->ms;
    if (i == 0 || one->how == DiffTimeKind::Fitted) sum.how = one->how;
  }
  return sum;
}

}  // namespace

std::optional<DiffTime> predicted(std::optional<double> ms, PriceSource how) {
  if (!ms) return std::nullopt;
  return DiffTime{*ms, how == PriceSource::Measured ? DiffTimeKind::Measured : DiffTimeKind::Fitted};
}

std::optional<DiffTime> timeOf(const FusedNode& fused, const DiffInput& input) {
  const auto known = input.times.find(fused.identity);
  return known != input.times.end() ? known->second : predicted(fused.predictedMs, fused.predictedHow);
}

void addTimeChanges(const PlanLevel& level, const DiffInput& a, const DiffInput& b, PlanDiff& diff) {
  if (level.a == nullptr || level.b == nullptr) return;
  for (const SetGroup& group : fusedGroups(level)) {
    const auto ofA = timeOf(*level.a, group.a, a), ofB = timeOf(*level.b, group.b, b);
    if (!ofA || !ofB || (ofA->ms == ofB->ms && ofA->how == ofB->how)) continue;
    TimeChange change{.ofA = *ofA, .ofB = *ofB};
    for (const std::uint32_t fused : group.a) change.a.push_back(coveringNode(level, true, fused));
    for (const std::uint32_t fused : group.b) change.b.push_back(coveringNode(level, false, fused));
    diff.times.push_back(std::move(change));
  }
}

}  // namespace fusescope
