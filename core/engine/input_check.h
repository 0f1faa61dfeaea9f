#pragma once

#include <map>
#include <string>

#include "planning/plan.h"

namespace fusescope {

/// Checks what a caller gives an engine: every input there, none unknown (the nearest is named), type, rank, extents
/// within the InputSpec, int64 values in the range of int32 where the plan truncates. Returns the extents by name; a
/// container has none.
Result<std::map<std::string, Dims>> checkInputs(const Plan& plan, const std::map<std::string, Tensor>& inputs);

/// The extents that a build is specialised for: `given` where it says, else the InputSpec's opt. Errors: a name that
/// is no input, extents that are not known or not allowed.
Result<std::map<std::string, Dims>> buildExtents(const Plan& plan, const std::map<std::string, Dims>& given);

}  // namespace fusescope
