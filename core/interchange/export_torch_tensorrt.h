#pragma once

#include "interchange/exports.h"

namespace fusescope {

/// A Python file with settings of Torch-TensorRT's autocast: `EXCLUDED_MODULES`, regular expressions each of which
/// matches the path of one module that stays in float32. Errors: the file names no modules, or a module is divided
/// between both types, which the settings cannot say.
Result<Exported> writeTorchTensorrt(const Plan& plan, const ExportOptions& options);

}  // namespace fusescope
