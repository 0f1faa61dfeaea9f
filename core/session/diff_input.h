#pragma once

#include <filesystem>

#include "diff/plan_diff.h"
#include "session/session.h"

namespace fusescope {

struct RunTime;

/// What a diff knows of an artifact besides its plan: of an engine file what its kernels took when it was built; of a
/// session the times of its newest run of this very plan, and the errors of all such runs, on whatever inputs. The
/// artifact must outlive it.
DiffInput diffInput(const Artifact& artifact);

/// Adds what kernels of the plan took in a run of it, in place of what was known.
void addTimes(const RunTime& time, DiffInput& input);

/// Adds what `errors --json` wrote to `path`, as the newest. Errors: it is no such document, or it is of another plan;
/// they name the file and what is another.
Status addErrors(const std::filesystem::path& path, DiffInput& input);

}  // namespace fusescope
