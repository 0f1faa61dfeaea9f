#pragma once

namespace fusescope {
class OpRegistry;
}

namespace fusescope::ops {

// Declares the register function of each family in families.inc.
#define FAMILY(NAME) void register##NAME(OpRegistry& registry);
#include "ops/families.inc"
#undef FAMILY

}  // namespace fusescope::ops
