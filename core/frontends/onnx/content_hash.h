#pragma once

#include "base/hash.h"

namespace fusescope {

class Graph;

/// Hashes structure, names, types, attributes and the data of small constants. Of large weights, only types and extents
/// are included.
Hash128 contentHash(const Graph& graph);

}  // namespace fusescope
