#pragma once

#include <string>

#include "app/cli/command.h"

namespace fusescope::cli {

/// Carries out `inspect E.fse --memory`: prints the contents of the engine's arena as it is prepared here. They depend
/// on the machine, because the kernels do. Returns the exit status. Errors: the file is not an engine, or its compiler
/// does not report its memory.
Result<int> inspectMemory(const std::string& path, int threads, bool asJson);

}  // namespace fusescope::cli
