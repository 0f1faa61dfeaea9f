#pragma once

#include "session/samples.h"
#include "session/session.h"
#include "tuning/tune.h"

namespace fusescope {

/// What errors are measured with where nobody asks for a backend: `artifact`'s own where the machine really runs the
/// lowered types, else the reference, which rounds exactly where the plan says.
std::string tuningBackend(const Artifact& artifact);

/// tune() on an opened artifact, with the prices that were measured on this machine.
Result<TuneReport> tuneArtifact(const Artifact& artifact, const Samples& samples, const TuneOptions& options);

/// Format "fusescope.tune": tuning/FORMAT.md. `withBaselines`: with what known searches find.
Json toJson(const TuneReport& report, const Samples& samples, const TuneOptions& options, bool withBaselines);

}  // namespace fusescope
