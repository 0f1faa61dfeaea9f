#pragma once

#include "ui/canvas/level_parts.h"

namespace fusescope {

/// Returns the copies of a run that are planned differently from the first copy: at the same position a kernel covers
/// other nodes, or a node calculates in another type, has another pin, falls back, or has another fate. The result
/// contains indices of modules.
std::vector<std::int32_t> unlikeCopies(const LevelParts& level, const Module& run);
/// Returns how a copy of a run differs from the first copy, one line each; empty if it does not, or if `module` is not
/// a copy.
QString copyDifference(const LevelParts& level, std::int32_t module);

}  // namespace fusescope
