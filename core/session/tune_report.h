#pragma once

#include "session/samples.h"
#include "session/session.h"
#include "tuning/tune.h"

namespace fusescope {

/// What errors are measured with where nobody asks for a backend: `artifact`'s own where the machine really runs the
/// lowered types (int8: every machine does), else the reference, which rounds exactly where the plan says.
std::string tuningBackend(const Artifact& artifact);

/// tune() on an opened artifact, with the prices that were measured on this machine.
Result<TuneReport> tuneArtifact(const Artifact& artifact, const Samples& samples, const TuneOptions& options);

/// {error, ms, how, unknown, casts, bytes, pins}: `pins` is how many.
Json toJson(const TunePoint& point);
/// Format "fusescope.tune": tuning/FORMAT.md. What known searches find is in it where the goal asks for it.
Json toJson(const TuneReport& report, const Samples& samples, const TuneOptions& options);

}  // namespace fusescope
