#pragma once

#include <filesystem>
#include <string>

#include "base/json_fwd.h"
#include "compilers/torch/capture_program.h"
#include "session/operations/import_operation.h"

namespace fusescope::cli {

// `import` of code: a function of a script, or a TorchScript file, which torch runs to make an exported program of it.

/// Error: options for code stand beside a program that needs none to be run.
Status checkNoCode(const ImportSettings& arguments);

/// captureProgram() once the user has confirmed what is to be run: by --run-code, or by the answer to a question on the
/// terminal. Errors: those of captureProgram(); there is no terminal, or the answer was no.
Result<CapturedProgram> captureConfirmed(const CodeToRun& code, const ImportSettings& arguments,
                                         const std::string& environment, const Progress& progress);

/// The part of the document of `import` that tells of the code. docs/json.md.
Json capturedJson(const CodeToRun& code, const CapturedProgram& captured);
void printCaptured(const CapturedProgram& captured);

/// Why the program at `program`, which was just written, has no network.
Diagnostic withoutNetwork(Diagnostic error, const std::filesystem::path& program);

}  // namespace fusescope::cli
