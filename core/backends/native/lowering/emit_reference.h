#pragma once

#include "backends/native/lowering/context.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Adds a step that runs one node with the reference kernel of its operator.
Status emitReference(Context& context, const Node& node);

}  // namespace fusescope::native
