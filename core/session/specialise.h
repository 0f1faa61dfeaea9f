#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/specialising_engine.h"
#include "session/samples.h"
#include "session/session.h"

namespace fusescope {

struct SpecialiseRequest {
  std::size_t mostEngines = SpecialiseOptions().mostEngines;
  std::int64_t mostBytes = SpecialiseOptions().mostBytes;
  double mostSeconds = 60;  ///< of calls until every sample's engine is settled
  TimeOptions time{};       ///< of the engine that then serves; `seconds` for each of the different extents
};

/// What calls took: median and worst, in milliseconds.
struct CallTimes {
  std::int64_t calls = 0;
  std::optional<double> medianMs, mostMs;
};

/// How the calls of one sample were answered.
struct SampleServing {
  std::string sample;  ///< its name
  ServedExtents served;
  double firstMs = 0;              ///< the first call
  CallTimes whileBuilding;         ///< calls that the general engine answered while a build of any extents went on
  CallTimes otherwise;             ///< calls that it answered while none went on
  std::optional<TimeReport> time;  ///< of the engine that serves at the end; samples of equal extents share it
};

struct SpecialiseReport {
  std::vector<SampleServing> samples;
  std::vector<Decision> decisions;
  bool settled = true;  ///< every sample is served by what it will be served by; false: the seconds ended before
  std::size_t engines = 0, mostEngines = 0;
  std::int64_t bytes = 0, mostBytes = 0;
};

/// Opens the engine of `artifact` as a general one, which gets specialised ones beside it. Errors: those of
/// openEngine(); another compiler than our own.
Result<std::unique_ptr<SpecialisingEngine>> openSpecialising(const Artifact& artifact, const BuildOptions& options,
                                                             const SpecialiseRequest& request);

/// Calls `engine` with all samples in turn, again and again, until it is settled for each which engine serves it; then
/// times these. Errors: those of a call (with the sample's name), cancellation.
Result<SpecialiseReport> specialiseOn(SpecialisingEngine& engine, const Samples& samples,
                                      const SpecialiseRequest& request);

/// The document "fusescope.specialised".
Json toJson(const SpecialiseReport& report);

}  // namespace fusescope
