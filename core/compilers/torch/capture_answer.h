#pragma once

#include "compilers/torch/capture_program.h"
#include "probe/probe_job.h"

namespace fusescope {

// Files of the probe's answer to `capture`: one of them, where torch could make a program.
inline constexpr const char* kCapturedProgram = "program.pt2";
inline constexpr const char* kCapturedNetwork = "network.onnx";

/// What the probe's part for torch (resources/probe/torch_capture.py) answered, without files. Errors: its answer does
/// not have the form that is known here.
Result<CapturedProgram> capturedFrom(const CodeToRun& code, const ProbeAnswer& answer);

}  // namespace fusescope
