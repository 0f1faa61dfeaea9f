#pragma once

#include "planning/read_back/read_back_plan.h"

namespace fusescope {

/// Checks whether a compiler's report can be about the network that the compiler received, which is that of `asked`.
/// Errors are those of readBackPlan().
Status checkReadBack(const Plan& asked, const ReadBack& readBack);

}  // namespace fusescope
