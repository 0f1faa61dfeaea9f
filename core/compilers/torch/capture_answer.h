#pragma once

#include "compilers/torch/capture_program.h"
#include "probe/probe_job.h"

namespace fusescope {

// Files in the probe's answer to `capture`: one of them if torch could make a program.
inline constexpr const char* kCapturedProgram = "program.pt2";
inline constexpr const char* kCapturedNetwork = "network.onnx";

/// Returns the probe's answer (resources/probe/torch_capture.py) without its files. Errors: the answer has an unknown
/// form.
Result<CapturedProgram> capturedFrom(const CodeToRun& code, const ProbeAnswer& answer);

}  // namespace fusescope
