#pragma once

#include "planning/plan.h"

namespace fusescope {

/// Every free float edge is stored at what the rule says (typing.h), found anew from what the nodes calculate in; every
/// pin that is obeyed holds or is refused by a decision; no two conversions with nothing but moves between them cancel.
/// A plan that was read back says nothing of its structure and passes.
Status verifyTypes(const Plan& plan);

}  // namespace fusescope
