#pragma once

#include <filesystem>

#include "diff/plan_diff.h"
#include "session/artifact.h"

namespace fusescope {

struct RunTime;

/// Returns the input of a diff for an artifact: its plan; for an engine file the times of its kernels at the build; for
/// a session the times of the latest run of this plan, and the errors of all such runs, on any inputs. The artifact
/// must outlive it.
DiffInput diffInput(const Artifact& artifact);

/// Replaces the times by those that kernels of the plan took in a run.
void addTimes(const RunTime& time, DiffInput& input);

/// Adds the errors that `errors --json` wrote to `path`, as the latest ones. Errors: the file is not such a document,
/// or is of another plan; they name the file and what differs.
Status addErrors(const std::filesystem::path& path, DiffInput& input);

}  // namespace fusescope
