#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// A Python script for onnxconverter-common: `NODE_BLOCK_LIST`, the names of nodes that stay in float32,
/// `OP_BLOCK_LIST`, which is empty, and the call that makes a network in float16 of the model. Errors: the plan lowers
/// to bf16, which the converter does not have.
Result<Exported> writeOnnxruntime(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
