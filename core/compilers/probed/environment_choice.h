#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "probe/environments.h"
#include "probe/found_environment.h"

namespace fusescope {

// The list of environments is determined once per process; forgetEnvironments() discards it. Thread-safe.

/// Returns the environment of this name; a text with a blank or a slash is itself the command. Errors: there is none of
/// this name (the nearest is suggested), located at `option`, which named it. It starts nothing.
Result<Environment> environmentNamed(const std::string& nameOrCommand, const std::string& option = "--compiler");

/// Returns what is in an environment. `options` are for its listener, if that is started for this. Errors: cancelled.
Result<FoundEnvironment> environmentAsFound(const Environment& environment, const StopToken& stop,
                                            const ProbeOptions& options = {});

/// Returns the first environment that has `compiler`. Errors: none has it (with what to do); cancelled.
Result<Environment> firstEnvironmentWith(std::string_view compiler, const StopToken& stop,
                                         const ProbeOptions& options = {});

void forgetEnvironments();

}  // namespace fusescope
