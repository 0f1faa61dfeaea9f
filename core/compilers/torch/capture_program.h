#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/stop.h"
#include "compilers/torch/capture_answer.h"
#include "compilers/torch/code_to_run.h"

namespace fusescope {

// These make an exported program (.pt2) from code: from the module that a function of a script returns, or from a
// TorchScript file. torch runs both with all rights of the user, so that nothing here starts before the user has
// confirmed exactly the content to run.

/// The extents and type of an argument of a TorchScript network, which its file does not contain.
struct TorchScriptInput {
  std::string name;
  DataType type = DataType::F32;
  std::vector<std::int64_t> dims;
};

struct CaptureOptions {
  std::string confirmed;       ///< the SHA-256 of the content that the user agreed to run
  std::string environment;     ///< its name or command; empty: the first environment that has torch
  std::filesystem::path into;  ///< the file to write; empty: defaultProgramPath()
  bool overwrites = false;     ///< an existing file may be replaced
  bool breaks = false;         ///< reports where TorchDynamo breaks the graph even if the export succeeds
  std::vector<TorchScriptInput> inputs{};
};

/// Returns the path of the program beside the file: net.make.pt2 for net.py:make, model.pt2 for model.pt.
std::filesystem::path defaultProgramPath(const CodeToRun& code);

/// Checks that the file can be written as `options` ask, and that the options fit the code. Call it before the user is
/// asked.
Status checkCapture(const CodeToRun& code, const CaptureOptions& options);

/// Runs the code with the torch of an environment, and writes the program. It blocks while the code runs, which may be
/// for ever; it can be cancelled at any time, which ends the process. Thread-safe. Errors before anything runs: the
/// content was not confirmed or has changed; the file to write exists. Later errors: those of ProbeJob::start(), and
/// exceptions of the user's code before the export, located at its line.
Result<CapturedProgram> captureProgram(const CodeToRun& code, const CaptureOptions& options, const StopToken& stop = {},
                                       const Progress& progress = {});

}  // namespace fusescope
