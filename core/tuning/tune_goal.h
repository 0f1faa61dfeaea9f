#pragma once

#include <cstdint>
#include <optional>

namespace fusescope {

/// The goal of a search for pins, and its limits.
struct TuneGoal {
  std::optional<double> maxError;    ///< of max|Δ| over rms, or of a metric; nothing: as small as minSpeedup allows
  std::optional<double> minSpeedup;  ///< predicted time with everything pinned, divided by the time with the pins
  std::int64_t evaluations = 0;      ///< maximum number of evaluations; 0: until nothing is left to try
  double seconds = 0;                ///< 0: no limit; with a limit, the result depends on the load of the machine
  std::uint64_t seed = 1;            ///< seed for the orders in which pins are removed
  /// If a limit ends the search methods of other tools, they are continued to their end, with limits of their own of
  /// the same size.
  bool baselines = false;
  bool operator==(const TuneGoal&) const = default;
};

}  // namespace fusescope
