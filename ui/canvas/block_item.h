#pragma once

#include "ui/canvas/level_parts.h"

namespace fusescope {

/// What a block says: which module it is and in which place, its operators, how much is in it, the type that most of
/// its work is calculated in. Of a run, how many copies it has and which of them differ from the first; of a copy, how
/// it does. `block`: index into LevelParts::blocks. Sizes and place come later.
CanvasItem blockItem(const LevelParts& level, std::size_t block);

}  // namespace fusescope
