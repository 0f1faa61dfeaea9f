#pragma once

#include <string>

#include "app/cli/command.h"

namespace fusescope::cli {

/// `inspect E.fse --memory`: prints what the arena of the engine holds, as it is prepared here. Which kernels it has,
/// and so what they need, depends on the machine. Gives the exit status. Errors: it is no engine, or its compiler does
/// not tell.
Result<int> inspectMemory(const std::string& path, int threads, bool asJson);

}  // namespace fusescope::cli
