#pragma once

#include "planning/directive.h"

namespace fusescope {

/// What `directives` narrow: of each kind the last one decides.
TruncateModes truncateModesOf(const Directives& directives);

}  // namespace fusescope
