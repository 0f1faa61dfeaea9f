#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "probe/environments.h"

namespace fusescope {

// Which environments there are is asked once in a process; forgetEnvironments() has it asked again. Thread-safe.

/// The environment of this name; a text with a blank or a slash in it is the command itself. Errors: there is none of
/// this name, with the nearest. Starts nothing.
Result<Environment> environmentNamed(const std::string& nameOrCommand);

/// What is in an environment. `options`: for its listener, where that is started for it. Errors: cancelled.
Result<FoundEnvironment> environmentAsFound(const Environment& environment, const StopToken& stop,
                                            const ProbeOptions& options = {});

/// The first environment that has `compiler`. Errors: none has, and what to do; cancelled.
Result<Environment> firstEnvironmentWith(std::string_view compiler, const StopToken& stop,
                                         const ProbeOptions& options = {});

void forgetEnvironments();

}  // namespace fusescope
