#pragma once

#include "base/hash.h"
#include "ir/graph.h"

namespace fusescope {

/// Of structure, names, types, attributes and small constants' data; of large weights only types and extents.
Hash128 contentHash(const Graph& graph);

}  // namespace fusescope
