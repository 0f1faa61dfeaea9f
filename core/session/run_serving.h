#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/specialising_engine.h"
#include "session/sample_source.h"

namespace fusescope {

/// Which engine serves the extents of one sample, as a run keeps it.
struct RunServed {
  std::string sample;  ///< its name
  std::map<std::string, Dims> extents;
  ServingState state = ServingState::Seen;
  std::int64_t calls = 0;
  std::optional<double> generalMs, specialisedMs;  ///< a call by each engine, as the trial of both measured it
  std::optional<double> firstMs;                   ///< the first call, which the general engine answered
  std::optional<double> takenOverMs;  ///< from the end of the first call until the specialised engine took over
  std::int64_t bytes = 0;             ///< of memory that the specialised engine takes beside the general one
  bool operator==(const RunServed&) const = default;
};

/// What specialised engines beside the general engine of a run came to: a SpecialiseReport without its times.
struct RunServing {
  std::string when;  ///< UTC
  SampleSource inputs;
  bool settled = true;  ///< as in SpecialiseReport
  std::vector<RunServed> samples;
  std::vector<Decision> decisions;
  bool operator==(const RunServing&) const = default;
};

/// As it stands in a session file: SESSION_FORMAT.md.
Json toJson(const RunServing& serving);
/// Reads a session file, or the document "fusescope.specialised", which says neither `when` nor `inputs`. Errors name
/// the field.
Result<RunServing> runServingFromJson(const Json& json);

}  // namespace fusescope
