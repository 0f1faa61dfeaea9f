#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

namespace fusescope {

/// Returns whether `ms` is shorter than the shortest time that the measured peaks of the machine allow
/// (MachinePeaks::leastMs()), by more than measurements scatter. Then other work disturbed one of the two measurements.
/// Returns false if one of the times is unknown.
inline bool isBeyondPeaks(std::optional<double> leastMs, std::optional<double> ms) {
  constexpr double kScatter = 1.05;
  return leastMs && ms && *ms > 0 && *leastMs > kScatter * *ms;
}

/// Returns which share of its time a kernel would need at the peaks: "83 %"; "> 100 % (!)" if it is faster than the
/// peaks allow; empty if it is unknown.
inline std::string rooflineText(std::optional<double> leastMs, std::optional<double> ms) {
  if (!leastMs || !ms || *ms <= 0) return {};
  return isBeyondPeaks(leastMs, ms) ? "> 100 % (!)" : fmt::format("{:.0f} %", 100 * *leastMs / *ms);
}

}  // namespace fusescope
