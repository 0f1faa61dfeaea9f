#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/specialising_engine.h"
#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"

namespace fusescope {

struct SpecialiseRequest {
  std::size_t mostEngines = SpecialiseOptions().mostEngines;
  std::int64_t mostBytes = SpecialiseOptions().mostBytes;
  double mostSeconds = 60;  ///< limit for calls until every sample's engine is decided
  TimeOptions time{};       ///< how the engine that then serves is timed; `seconds` is for each of the different
                            ///< extents
};

/// The times of calls: median and largest, in milliseconds.
struct CallTimes {
  std::int64_t calls = 0;
  std::optional<double> medianMs, mostMs;
};

/// How the calls with one sample were served.
struct SampleServing {
  std::string sample;  ///< its name
  ServedExtents served;
  double firstMs = 0;              ///< time of the first call
  CallTimes whileBuilding;         ///< calls that the general engine ran while any engine was being built
  CallTimes otherwise;             ///< calls that it ran while none was being built
  std::optional<TimeReport> time;  ///< the engine that serves at the end; samples with equal extents share it
};

struct SpecialiseReport {
  std::vector<SampleServing> samples;
  std::vector<Decision> decisions;
  bool settled = true;  ///< every sample is served by its final engine; false: the time was over before
  std::size_t engines = 0, mostEngines = 0;
  std::int64_t bytes = 0, mostBytes = 0;
};

/// Opens the engine of `artifact` as a general one beside which specialised ones are built. Errors: those of
/// openEngine(); another compiler than our own.
Result<std::unique_ptr<SpecialisingEngine>> openSpecialising(const Artifact& artifact, const BuildOptions& options,
                                                             const SpecialiseRequest& request);

/// Calls `engine` with all samples in turn, repeatedly, until it is decided for each which engine serves it; then times
/// these engines. Errors: those of a call (with the sample's name), cancellation.
Result<SpecialiseReport> specialiseOn(SpecialisingEngine& engine, const Samples& samples,
                                      const SpecialiseRequest& request);

/// Returns the document "fusescope.specialised".
Json toJson(const SpecialiseReport& report);

}  // namespace fusescope
