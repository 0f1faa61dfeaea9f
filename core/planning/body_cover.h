#pragma once

#include <string_view>

#include "base/ids.h"
#include "planning/cover.h"

namespace fusescope {

/// Returns the cover of the body in `attribute` of `holder`, or null if there is none.
const Cover* bodyCover(const Cover& cover, NodeId holder, std::string_view attribute);

}  // namespace fusescope
