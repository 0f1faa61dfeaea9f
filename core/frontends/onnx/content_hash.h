#pragma once

#include "base/hash.h"
#include "ir/graph.h"

namespace fusescope {

/// Hashes structure, names, types, attributes and the data of small constants. Of large weights, only types and extents
/// are included.
Hash128 contentHash(const Graph& graph);

}  // namespace fusescope
