#pragma once

#include "target/target.h"

namespace fusescope {

struct Node;

/// Returns whether `target` runs the operator of `node` in the float type `type`: its kernels calculate in registers in
/// another type anyway, or its row in the table accepts the type. Restrictions that are not about types are checked by
/// validateNode().
bool runsIn(const Target& target, const Node& node, DataType type);

}  // namespace fusescope
