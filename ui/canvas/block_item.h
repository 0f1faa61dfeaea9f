#pragma once

#include <cstddef>

#include "ui/canvas/level_parts.h"

namespace fusescope {

/// Returns the item of a block, open or closed: its module and place, its operators, its amount of work, the type of
/// most of its work, and the lowest certainty of its kernels. For a run also the number of copies and those that differ
/// from the first; for a copy, how it differs. `block` is an index into LevelParts::blocks. The item is made once and
/// kept in LevelParts::blockItems. Size and place are set later.
const CanvasItem& blockItem(const LevelParts& level, std::size_t block);

}  // namespace fusescope
