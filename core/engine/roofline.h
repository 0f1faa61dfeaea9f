#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

namespace fusescope {

/// Whether what took `ms` is faster than the least that the measured peaks of the machine allow
/// (MachinePeaks::leastMs()), by more than measurements scatter: other work disturbed the measurement of one of them.
/// False: one is not known.
inline bool isBeyondPeaks(std::optional<double> leastMs, std::optional<double> ms) {
  constexpr double kScatter = 1.05;
  return leastMs && ms && *ms > 0 && *leastMs > kScatter * *ms;
}

/// How much of its time it would take at the peaks: "83 %"; "> 100 % (!)" where it is beyond them; empty: not known.
inline std::string rooflineText(std::optional<double> leastMs, std::optional<double> ms) {
  if (!leastMs || !ms || *ms <= 0) return {};
  return isBeyondPeaks(leastMs, ms) ? "> 100 % (!)" : fmt::format("{:.0f} %", 100 * *leastMs / *ms);
}

}  // namespace fusescope
