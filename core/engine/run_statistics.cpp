#include "engine/run_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/medians.h"

namespace fusescope {
namespace {

/// The machine counts as quiet if 95 of 100 runs take at most this many times the median.
constexpr double kQuietSpread = 1.25;
constexpr std::size_t kNeighbours = 4;  // the number of neighbouring runs on each side of a run

/// Returns the value below which `share` of the sorted samples are (nearest rank).
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<std::size_t>(rank, 1)) - 1];
}

}  // namespace

void summarise(TimeReport& report, const std::vector<double>& runs) {
  std::vector<double> sorted = runs;
  std::ranges::sort(sorted);
  report.samples = std::ssize(sorted);
  report.medianMs = median(sorted);
  report.minMs = sorted.front();
  report.p95Ms = percentile(sorted, 0.95);
  report.p99Ms = percentile(sorted, 0.99);
  report.throughput = *report.medianMs > 0 ? 1000.0 / *report.medianMs : 0.0;
  report.quiet = *report.p95Ms <= kQuietSpread * *report.medianMs;
}

bool quietSteps(const std::vector<double>& stepMs) {
  std::vector<double> overNeighbours;
  for (std::size_t i = 0; i < stepMs.size(); ++i) {
    const std::size_t from = i - std::min(i, kNeighbours), to = std::min(stepMs.size(), i + kNeighbours + 1);
    const double usual =
        median({stepMs.begin() + static_cast<std::ptrdiff_t>(from), stepMs.begin() + static_cast<std::ptrdiff_t>(to)});
    overNeighbours.push_back(usual > 0 ? stepMs[i] / usual : 1.0);
  }
  std::ranges::sort(overNeighbours);
  return percentile(overNeighbours, 0.95) <= kQuietSpread;
}

std::vector<std::size_t> middleRuns(const std::vector<double>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t run) { return runs[run]; });
  const auto left = static_cast<std::ptrdiff_t>((runs.size() + 2) / 4);
  const bool leavesSome = static_cast<std::size_t>(2 * left) < runs.size();
  if (!leavesSome) return order;
  return {order.begin() + left, order.end() - left};
}

double meanOf(const std::vector<double>& values, const std::vector<std::size_t>& which) {
  double sum = 0;
  for (const std::size_t i : which) sum += values[i];
  return sum / static_cast<double>(which.size());
}

}  // namespace fusescope
