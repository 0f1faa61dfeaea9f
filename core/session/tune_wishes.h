#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// What a search for pins is to reach, and when it is to end: as TuneGoal and EvaluatorOptions say it.
struct TuneWishes {
  std::optional<double> maxError;    ///< of max|Δ| over rms of the output that counts, or of the metric
  std::optional<double> minSpeedup;  ///< the time with everything pinned over that with the pins, as predicted
  std::string output;                ///< that counts; empty: the worst of all
  std::string metric;                ///< a command that judges outputs; empty: max|Δ| over rms
  double seconds = 0;                ///< 0: until nothing is left to try
  std::int64_t evaluations = 0;      ///< 0: no limit
  std::uint64_t seed = 1;            ///< of the orders in which pins are taken out again
  bool explain = false;              ///< what each pin is for is found out even where a limit ended the search
  bool baselines = false;            ///< known searches are asked too
  bool operator==(const TuneWishes&) const = default;
};

/// {max_error, min_speedup, of, metric, seconds, evaluations, seed, explain, baselines}; null and empty: not asked for.
Json toJson(const TuneWishes& wishes);
/// The inverse; errors name the field.
Result<TuneWishes> tuneWishesFromJson(const Json& json);

}  // namespace fusescope
