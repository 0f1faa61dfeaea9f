#pragma once

#include <cstdint>
#include <optional>

namespace fusescope {

/// What a search for pins is to reach, and when it is to end.
struct TuneGoal {
  std::optional<double> maxError;    ///< of max|Δ| over rms, or of a metric; nothing: as little as minSpeedup allows
  std::optional<double> minSpeedup;  ///< the time with everything pinned over that with the pins, as predicted
  std::int64_t evaluations = 0;      ///< so many at the most; 0: until nothing is left to try
  double seconds = 0;                ///< 0: no limit. A limit of time makes the outcome depend on the machine's load
  std::uint64_t seed = 1;            ///< of the orders in which pins are taken out again
  /// Known searches that a limit kept from their end go on to it, within limits of their own that are as large.
  bool baselines = false;
  bool operator==(const TuneGoal&) const = default;
};

}  // namespace fusescope
