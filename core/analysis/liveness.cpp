#include "analysis/liveness.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace fusescope {
namespace {

struct Interval {
  std::size_t begin, end;
};

bool liveTogether(const BufferLife& a, const BufferLife& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// Returns the start of the tightest gap of at least `bytes` between `taken` (sorted by begin), or the end of the last
/// one.
std::size_t bestFit(const std::vector<Interval>& taken, std::size_t bytes) {
  std::size_t bestOffset = 0, bestGap = SIZE_MAX, reach = 0;
  for (const Interval& interval : taken) {
    if (interval.begin > reach) {
      const std::size_t gap = interval.begin - reach;
      if (gap >= bytes && gap < bestGap) {
        bestGap = gap;
        bestOffset = reach;
      }
    }
    reach = std::max(reach, interval.end);
  }
  return bestGap == SIZE_MAX ? reach : bestOffset;
}

}  // namespace

ArenaPlan planArena(std::span<const BufferLife> buffers, std::size_t alignment) {
  const auto rounded = [alignment](std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<std::size_t> bySize(buffers.size());
  std::iota(bySize.begin(), bySize.end(), std::size_t{0});
  std::stable_sort(bySize.begin(), bySize.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  ArenaPlan plan{.offsets = std::vector<std::size_t>(buffers.size(), 0)};
  std::vector<std::size_t> placed;
  std::vector<Interval> taken;
  for (const std::size_t buffer : bySize) {
    const std::size_t bytes = rounded(buffers[buffer].bytes);
    if (bytes == 0) continue;
    taken.clear();
    for (const std::size_t other : placed)
      if (liveTogether(buffers[buffer], buffers[other]))
        taken.push_back({plan.offsets[other], plan.offsets[other] + rounded(buffers[other].bytes)});
    std::sort(taken.begin(), taken.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    plan.offsets[buffer] = bestFit(taken, bytes);
    plan.bytes = std::max(plan.bytes, plan.offsets[buffer] + bytes);
    placed.push_back(buffer);
  }
  return plan;
}

}  // namespace fusescope
