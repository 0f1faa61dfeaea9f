#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "engine/specialising_engine.h"
#include "session/inputs/sample_source.h"

namespace fusescope {

/// Which engine serves the extents of one sample, in the form that a run stores.
struct RunServed {
  std::string sample;  ///< its name
  std::map<std::string, Dims> extents;
  ServingState state = ServingState::Seen;
  std::int64_t calls = 0;
  std::optional<double> generalMs, specialisedMs;  ///< the time of a call with each engine, as their trial measured it
  std::optional<double> firstMs;                   ///< the time of the first call, which the general engine ran
  std::optional<double> takenOverMs;  ///< from the end of the first call until the specialised engine took over
  std::int64_t bytes = 0;             ///< memory of the specialised engine in addition to the general one
  bool operator==(const RunServed&) const = default;
};

/// The result of specialised engines beside the general engine of a run: a SpecialiseReport without its times.
struct RunServing {
  std::string when;  ///< UTC
  SampleSource inputs;
  bool settled = true;  ///< see SpecialiseReport
  std::vector<RunServed> samples;
  std::vector<Decision> decisions;
  bool operator==(const RunServing&) const = default;
};

/// Writes the form of session files: SESSION_FORMAT.md.
Json toJson(const RunServing& serving);
/// Reads a session file, or the document "fusescope.specialised", which has no `when` and `inputs`. Errors name the
/// field.
Result<RunServing> runServingFromJson(const Json& json);

}  // namespace fusescope
