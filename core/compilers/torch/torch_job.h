#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "compilers/probed/probed_compiler.h"
#include "probe/environments.h"

namespace fusescope {

/// The compiler torch in the environment of this name or command; empty: in the first one that has it.
const ProbedCompiler& torchIn(const std::string& environment);

/// That environment, as its command is to be told to people. Errors: there is none.
Result<Environment> environmentOfTorch(const std::string& environment, const StopToken& stop);

/// A process that imported torch, for `file`, at which errors are located. Where it cannot be had, what was found out
/// about environments is forgotten: who asks again may have installed what was missing. Errors: those of
/// ProbeJob::start().
Result<std::unique_ptr<ProbeJob>> torchJobFor(const ProbedCompiler& torch, const std::filesystem::path& file,
                                              const StopToken& stop);

/// What the probe says, at `file`: nobody named a compiler.
Diagnostic atFile(Diagnostic error, const std::filesystem::path& file);

}  // namespace fusescope
