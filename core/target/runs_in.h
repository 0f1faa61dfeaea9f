#pragma once

#include "target/target.h"

namespace fusescope {

/// Whether `target` runs the operator of `node` in the float `type`: it has it in registers whatever the type is, or its
/// row takes it. Restrictions that are not about types are left to validateNode().
bool runsIn(const Target& target, const Node& node, DataType type);

}  // namespace fusescope
