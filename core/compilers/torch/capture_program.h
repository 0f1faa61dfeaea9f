#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "base/stop.h"
#include "ir/decision.h"

namespace fusescope {

// An exported program (.pt2) made of code: of the module that a function of a script returns, or of a TorchScript file.
// torch runs both with all the rights of the user, so that nothing here starts before the user has confirmed the very
// content that is to be run.

enum class CodeKind { Script, TorchScript };

/// A file whose code torch runs where a program is made of it.
struct CodeToRun {
  CodeKind kind = CodeKind::Script;
  std::filesystem::path file;  ///< absolute
  std::string function;        ///< of a script
  std::string sha256;          ///< of the content, by which the user confirms it
};

/// What `given` names if it is code: "SCRIPT.py:FUNCTION", or the path of a TorchScript file, which is known by its
/// content. Nothing: another file. Runs nothing. Errors: a script without a function, a function that is no name,
/// weights or modules of torch.save(), which hold no graph; the file cannot be read.
Result<std::optional<CodeToRun>> codeNamed(const std::string& given, const StopToken& stop = {});

/// Extents and type of an argument of a TorchScript network, which its file does not hold.
struct TorchScriptInput {
  std::string name;
  DataType type = DataType::F32;
  std::vector<std::int64_t> dims;
};

struct CaptureWishes {
  std::string confirmed;       ///< the SHA-256 of the content that the user agreed to run
  std::string environment;     ///< its name or command; empty: the first that has torch
  std::filesystem::path into;  ///< the file to be written; empty: defaultProgramPath()
  bool overwrites = false;     ///< whether what is there under that name may be replaced
  bool breaks = false;         ///< where TorchDynamo leaves the graph is found out also where the export succeeds
  std::vector<TorchScriptInput> inputs{};
};

/// What torch made of the code.
struct CapturedProgram {
  std::filesystem::path program;  ///< the .pt2; empty: torch could not export it, or only as ONNX
  std::filesystem::path network;  ///< the ONNX file of torch.onnx.export(dynamo=False), which needs no more
  std::string torch;              ///< its version
  std::string way;                ///< by what it was made: "torch.export (non-strict)"; empty: by nothing
  std::map<std::string, std::string> extents{};  ///< what a script calls open extents, by their symbols in the program
  std::vector<Decision> decisions;
  std::optional<Diagnostic> problem;  ///< why there is none, located in the user's script; `decisions` tell more
};

/// Beside the file: net.make.pt2 of net.py:make, model.pt2 of model.pt.
std::filesystem::path defaultProgramPath(const CodeToRun& code);

/// Whether a file can be written as `wishes` has it, and the wishes fit the code: to be asked before the user is.
Status checkCapture(const CodeToRun& code, const CaptureWishes& wishes);

/// Runs the code by the torch of an environment, and writes what it makes. Blocks for as long as the code takes, which
/// may be for ever; cancellable at any time, which ends its process. Safe to use from several threads. Errors, before
/// anything runs: the content was not confirmed or is not as it was; a file stands where the program is to go. Later:
/// those of ProbeJob::start(), what the user's code raises before torch exports it, at its line.
Result<CapturedProgram> captureProgram(const CodeToRun& code, const CaptureWishes& wishes, const StopToken& stop = {},
                                       const Progress& progress = {});

}  // namespace fusescope
