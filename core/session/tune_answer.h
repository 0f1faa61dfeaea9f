#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "planning/plan.h"
#include "planning/prices/price.h"

namespace fusescope {

/// A pin in a set. The reason and errorWithout are known for pins that the search chose.
struct TunedPin {
  std::string node, type, why;
  std::optional<double> errorWithout;  ///< the error of the network with only the other pins; nothing: not tried
  bool operator==(const TunedPin&) const = default;
};

/// A set of pins that a search evaluated, in the form of `tune --json`.
struct TunedPoint {
  double error = NAN;                      ///< infinite if something became infinite or NaN; NaN: not evaluated
  std::optional<double> errorHere;         ///< on the backend of the search; nothing: not evaluated
  std::optional<double> errorOnReference;  ///< nothing: not requested. `error` is the larger of both
  std::optional<double> ms;                ///< predicted; nothing if a kernel or conversion has no price
  PriceSource how = PriceSource::Unknown;  ///< the source of the prices
  std::int64_t casts = 0;
  std::optional<std::int64_t> bytes{};  ///< bytes moved; nothing if an extent is unknown
  std::int64_t pins = 0;
  std::vector<TunedPin> set{};  ///< its pins, if the answer lists them, as it does for its front
  bool operator==(const TunedPoint&) const = default;
};

/// The result of one of the known search methods.
struct TunedBaseline {
  std::string name;                  ///< "prefix", "suffix", "greedy"
  std::optional<std::int64_t> pins;  ///< nothing: it finds no set that is good enough
  bool finished = false;             ///< it ended by itself
};

/// The errors of the network exported with the chosen pins.
struct TunedExport {
  double onReference = NAN, onEngine = NAN;  ///< its errors
  bool operator==(const TunedExport&) const = default;
};

/// The worker's answer to `tune`: the document of `tune --json`, and the plan options with the pins.
struct TuneAnswer {
  bool ok = false;       ///< `chosen` is as requested
  bool minimal = false;  ///< none of its pins can be omitted; each was tried
  std::string end;       ///< "finished", "evaluations", "seconds", "stopped"
  std::string backend;   ///< the backend on which errors were measured
  bool randomInputs = false;
  std::int64_t samples = 0, evaluations = 0, pinnable = 0;
  double seconds = 0;
  std::optional<double> maxError;  ///< the requested limit
  std::optional<double>
      searchLimit;  ///< the limit of the last search: less than maxError if exporting increases errors
  std::optional<TunedExport> exported;  ///< nothing: not requested, ended before, or impossible
  std::string exportRefused;            ///< why it cannot be exported; empty: it can, or it was not requested
  TunedPoint unpinned, allPinned, chosen;
  /// The smallest sufficient set of pins, if pinning everything is faster and as close to float32.
  std::optional<TunedPoint> beatenByAllPinned;
  std::vector<TunedPoint> front;
  std::vector<TunedPin> pins;  ///< the pins of `chosen`
  std::vector<TunedBaseline> baselines;
  PlanOptions options;
};

/// Reads the answer. Errors name the field.
Result<TuneAnswer> tuneAnswerFromJson(const Json& reply);
/// Returns the number of pins that the user had set before the search. They come before the pins that were `found` in
/// `options`, and are kept.
std::int64_t pinsBefore(const PlanOptions& options, std::size_t found);
/// The set of pins that a running search is trying, from its progress.
struct TunedTry {
  std::int64_t evaluations = 0;    ///< number of sets that were run before
  std::int64_t pins = 0;           ///< number of its pins
  std::vector<std::string> nodes;  ///< the nodes that it pins; the first ones if there are very many
  bool operator==(const TunedTry&) const = default;
};
/// Returns nothing if `json` has another form.
std::optional<TunedTry> tunedTryFromJson(const Json& json);
/// Reads the better sets that a running search has found so far, from its progress: app/worker/PROTOCOL.md.
Result<std::vector<TunedPoint>> tunedPointsFromJson(const Json& json);

}  // namespace fusescope
