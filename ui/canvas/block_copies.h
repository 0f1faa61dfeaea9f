#pragma once

#include "ui/canvas/level_parts.h"

namespace fusescope {

/// The copies of a run that are planned otherwise than the first: at the same place a kernel covers other nodes, a node
/// calculates in another type, is pinned otherwise, falls back, or has another fate. Indices of modules.
std::vector<std::int32_t> unlikeCopies(const LevelParts& level, const Module& run);
/// How a copy of a run differs from the first, a line each; empty where it does not, or `module` is no copy.
QString copyDifference(const LevelParts& level, std::int32_t module);

}  // namespace fusescope
