#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "compilers/probed/probed_compiler.h"
#include "probe/environment.h"

namespace fusescope {

/// Returns the compiler torch in the environment of this name or command; empty: in the first one that has it.
const ProbedCompiler& torchIn(const std::string& environment);

/// Returns that environment, so that its command can be shown to people. Errors: there is none.
Result<Environment> environmentOfTorch(const std::string& environment, const StopToken& stop);

/// Returns a process that imported torch. Errors are located at `file`. If it cannot be started, what is known about
/// environments is forgotten, because the user may install what is missing before the next attempt. Errors: those of
/// ProbeJob::start().
Result<std::unique_ptr<ProbeJob>> torchJobFor(const ProbedCompiler& torch, const std::filesystem::path& file,
                                              const StopToken& stop);

/// Locates an error of the probe at `file`, because the user named no compiler.
Diagnostic atFile(Diagnostic error, const std::filesystem::path& file);

}  // namespace fusescope
