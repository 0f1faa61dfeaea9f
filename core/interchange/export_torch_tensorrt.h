#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// Writes a Python file with settings for Torch-TensorRT's autocast: `EXCLUDED_MODULES` contains regular expressions,
/// each of which matches the path of one module that stays in float32. Errors: the file names no modules, or a module
/// contains both types, which the settings cannot express.
Result<Exported> writeTorchTensorrt(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
