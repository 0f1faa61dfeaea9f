#pragma once

namespace fusescope {
class OpRegistry;
}

namespace fusescope::ops {

// One function for each family of families.inc.
#define FAMILY(NAME) void register##NAME(OpRegistry& registry);
#include "ops/families.inc"
#undef FAMILY

}  // namespace fusescope::ops
