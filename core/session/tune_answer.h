#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "planning/plan.h"
#include "planning/price.h"

namespace fusescope {

/// A pin of a set; what it is for is known of those that the search chose.
struct TunedPin {
  std::string node, type, why;
  std::optional<double> errorWithout;  ///< of the network with the others alone; nothing: not tried
  bool operator==(const TunedPin&) const = default;
};

/// A set of pins that a search evaluated, as `tune --json` says it.
struct TunedPoint {
  double error = NAN;                      ///< infinite where something became infinite or NaN; NaN: not evaluated
  std::optional<double> errorHere;         ///< on the backend of the search; nothing: not evaluated
  std::optional<double> errorOnReference;  ///< nothing: it was not asked. `error` is the larger one
  std::optional<double> ms;                ///< predicted; nothing where a kernel or conversion has no price
  PriceSource how = PriceSource::Unknown;  ///< of what prices
  std::int64_t casts = 0;
  std::optional<std::int64_t> bytes{};  ///< moved; nothing where an extent is not known
  std::int64_t pins = 0;
  std::vector<TunedPin> set{};  ///< its pins, where the answer names them: in its front
  bool operator==(const TunedPoint&) const = default;
};

/// What one of the known searches finds.
struct TunedBaseline {
  std::string name;                  ///< "prefix", "suffix", "greedy"
  std::optional<std::int64_t> pins;  ///< nothing: it does not find a set that is good enough
  bool finished = false;             ///< it came to its end
};

/// What the network is once it is exported with the pins that were chosen.
struct TunedExport {
  double onReference = NAN, onEngine = NAN;  ///< its errors
  bool operator==(const TunedExport&) const = default;
};

/// What the worker answers to `tune`: the document of `tune --json` and the plan options with the pins.
struct TuneAnswer {
  bool ok = false;       ///< `chosen` is as was asked
  bool minimal = false;  ///< none of its pins can be left out: each was tried
  std::string end;       ///< "finished", "evaluations", "seconds", "stopped"
  std::string backend;   ///< that errors were measured on
  bool randomInputs = false;
  std::int64_t samples = 0, evaluations = 0, pinnable = 0;
  double seconds = 0;
  std::optional<double> maxError;  ///< that was asked for
  std::optional<double> heldTo;    ///< that the last search allowed: less than maxError where exporting adds to errors
  std::optional<TunedExport> exported;  ///< nothing: it was not asked, was ended, or cannot be
  std::string exportRefused;            ///< why it cannot be exported; empty: it can, or it was not asked
  TunedPoint unpinned, allPinned, chosen;
  /// The fewest pins that are enough, where everything pinned is faster and as near to float32.
  std::optional<TunedPoint> beatenByAllPinned;
  std::vector<TunedPoint> front;
  std::vector<TunedPin> pins;  ///< of `chosen`
  std::vector<TunedBaseline> baselines;
  PlanOptions options;
};

/// Errors name the field.
Result<TuneAnswer> tuneAnswerFromJson(const Json& reply);
/// Returns the number of pins that the user had set before the search. They come before the pins that were `found` in
/// `options`, and are kept.
std::int64_t pinsBefore(const PlanOptions& options, std::size_t found);
/// The set of pins that a search under way is running, as its progress says it.
struct TunedTry {
  std::int64_t evaluations = 0;    ///< sets that were run before
  std::int64_t pins = 0;           ///< that it has
  std::vector<std::string> nodes;  ///< that it pins; of very many the first
  bool operator==(const TunedTry&) const = default;
};
/// Nothing for what is no such thing.
std::optional<TunedTry> tunedTryFromJson(const Json& json);
/// The better sets that a search under way has found so far, as its progress says them: app/worker/PROTOCOL.md.
Result<std::vector<TunedPoint>> tunedPointsFromJson(const Json& json);

}  // namespace fusescope
