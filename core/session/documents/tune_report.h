#pragma once

#include "session/artifact.h"
#include "session/documents/engine_reports.h"
#include "session/inputs/samples.h"
#include "tuning/tune.h"

namespace fusescope {

/// Returns the backend on which errors are measured if the user did not choose one: that of `artifact` if the machine
/// really runs the lowered types (every machine runs int8), otherwise the reference, which rounds exactly where the
/// plan says.
std::string tuningBackend(const Artifact& artifact);

/// Runs tune() on an opened artifact, with prices that were measured on this machine.
Result<TuneReport> tuneArtifact(const Artifact& artifact, const Samples& samples, const TuneOptions& options);

/// Returns {error, ms, how, unknown, casts, bytes, pins}; `pins` is their number.
Json toJson(const TunePoint& point);
/// Returns the format "fusescope.tune": tuning/FORMAT.md.
Json toJson(const TuneReport& report, const Samples& samples, const TuneOptions& options);

}  // namespace fusescope
