#pragma once

#include <string_view>

#include "planning/cover.h"

namespace fusescope {

/// What is made of the body under `attribute` of `holder`; null: nothing is known of it.
const Cover* bodyCover(const Cover& cover, NodeId holder, std::string_view attribute);

}  // namespace fusescope
