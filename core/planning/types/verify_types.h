#pragma once

#include "planning/plan.h"

namespace fusescope {

/// Checks that every float edge without a pinned type is stored as the rule in typing.h requires, which is computed
/// anew; that every pin with `obey` is satisfied or refused by a decision; and that no two conversions with only moves
/// between them cancel each other. A read-back plan has no structure, and always passes.
Status verifyTypes(const Plan& plan);

}  // namespace fusescope
