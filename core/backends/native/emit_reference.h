#pragma once

#include "backends/native/context.h"

namespace fusescope::native {

/// Runs one node by the reference kernel of its operator.
Status emitReference(Context& context, const Node& node);

}  // namespace fusescope::native
