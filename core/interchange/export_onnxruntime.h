#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes a Python script for onnxconverter-common: `NODE_BLOCK_LIST` with the names of nodes that stay in float32, an
/// empty `OP_BLOCK_LIST`, and the call that converts the model to float16. Errors: the plan lowers to bf16, which the
/// converter does not support.
Result<Exported> writeOnnxruntime(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
