#include "cache/load_cost.h"

#include <algorithm>

namespace fusescope {
namespace {

constexpr std::uint64_t kSmall = 64 << 10;  // bytes of an entry so small that nearly all of its load time is constant
constexpr std::int64_t kFewestLoads = 3;
constexpr double kSlowly = 1.05;  // the factor by which an estimate grows with each load that took longer

/// Updates the estimate `known` with the new sample `now`: it falls quickly and rises slowly.
void follow(std::optional<double>& known, double now) {
  if (!known) {
    known = now;
  } else {
    known = now < *known ? (now + *known) / 2 : std::min(now, *known * kSlowly);
  }
}

}  // namespace

void LoadCost::learn(std::uint64_t bytes, double ms) {
  ++loads;
  if (bytes < kSmall) return follow(fixedMs, std::max(ms, 0.0));
  follow(msPerByte, std::max(ms - fixedMs.value_or(0), 0.0) / static_cast<double>(bytes));
}

bool LoadCost::isKnown() const {
  return loads >= kFewestLoads;
}

double LoadCost::msFor(std::uint64_t bytes) const {
  return fixedMs.value_or(0) + msPerByte.value_or(0) * static_cast<double>(bytes);
}

}  // namespace fusescope
