#pragma once

#include <filesystem>
#include <string>

#include "base/json_fwd.h"
#include "compilers/torch/capture_program.h"
#include "session/operations/import_operation.h"

namespace fusescope::cli {

// Functions for `import` of code, that is, of a function of a script or of a TorchScript file, which torch runs to make
// an exported program.

/// Returns an error if options for code are given although the program is not code and nothing has to be run.
Status checkNoCode(const ImportSettings& arguments);

/// Calls captureProgram() after the user has confirmed what is to be run, by --run-code or by an answer on the
/// terminal. Errors: those of captureProgram(); there is no terminal, or the answer was no.
Result<CapturedProgram> captureConfirmed(const CodeToRun& code, const ImportSettings& arguments,
                                         const std::string& environment, const Progress& progress);

/// Returns the part of the JSON document of `import` that describes the code (docs/json.md).
Json capturedJson(const CodeToRun& code, const CapturedProgram& captured);
void printCaptured(const CapturedProgram& captured);

/// Returns `error` with the explanation why the program at `program`, which was just written, has no network.
Diagnostic withoutNetwork(Diagnostic error, const std::filesystem::path& program);

}  // namespace fusescope::cli
