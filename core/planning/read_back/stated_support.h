#pragma once

#include "planning/read_back/compiler_support.h"

namespace fusescope {

class Graph;

/// Returns the answer of a compiler that refuses nothing and states nothing: an entry with a null `isAccepted` for each
/// node.
CompilerSupport nothingStated(const Graph& graph);
/// Returns `support` with such an entry for each node of the network about which it has none, in graph order. Entries
/// about other nodes are dropped.
CompilerSupport statedAboutAll(const Graph& graph, CompilerSupport support);

}  // namespace fusescope
