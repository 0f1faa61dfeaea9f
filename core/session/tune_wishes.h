#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "tuning/tune_goal.h"

namespace fusescope {

/// What a search for pins is asked for.
struct TuneWishes {
  TuneGoal goal;
  std::string output;    ///< whose error counts; empty: the worst of all
  std::string metric;    ///< a command that judges outputs; empty: max|Δ| over rms
  bool explain = false;  ///< what each pin is for is found out, as far as the time goes
  bool operator==(const TuneWishes&) const = default;
};

/// {max_error, min_speedup, of, metric, seconds, evaluations, seed, explain, baselines}; null and empty: not asked for.
Json toJson(const TuneWishes& wishes);
/// The inverse; errors name the field.
Result<TuneWishes> tuneWishesFromJson(const Json& json);

}  // namespace fusescope
