#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compilers/torch/code_to_run.h"
#include "ir/decision.h"
#include "probe/probe_job.h"

namespace fusescope {

// Files in the probe's answer to `capture`: one of them if torch could make a program.
inline constexpr const char* kCapturedProgram = "program.pt2";
inline constexpr const char* kCapturedNetwork = "network.onnx";

/// What torch made from the code.
struct CapturedProgram {
  std::filesystem::path program;  ///< the .pt2 file; empty: torch could not export it, or only as ONNX
  std::filesystem::path network;  ///< the ONNX file of torch.onnx.export(dynamo=False), which can be opened directly
  std::string torch;              ///< its version
  std::string way;                ///< how it was made: "torch.export (non-strict)"; empty: it was not
  std::map<std::string, std::string> extents{};  ///< the names that a script gives to open extents, by their symbols in
                                                 ///< the program
  std::vector<Decision> decisions;
  std::optional<Diagnostic> problem;  ///< why there is no program, located in the user's script; `decisions` contain
                                      ///< details
};

/// Returns the probe's answer (resources/probe/torch_capture.py) without its files. Errors: the answer has an unknown
/// form.
Result<CapturedProgram> capturedFrom(const CodeToRun& code, const ProbeAnswer& answer);

}  // namespace fusescope
