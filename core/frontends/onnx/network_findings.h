#pragma once

#include <vector>

#include "base/mapped_file.h"
#include "ir/decision.h"

namespace fusescope {

class Graph;
class KeptStore;

/// Adds a decision for each operator that works as in training, and for each constant with NaN, infinite (unless it has
/// only one element) or denormal elements. Only the first GiB of constants is checked. Long constants in one of `files`
/// are read from that file and not through its mapping; if their hashes are wanted (base/part_hashes.h), they are kept.
/// Constants of files that did not change since `store` was told about them are not read again.
void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions, const MappedFiles& files = {},
                           KeptStore* store = nullptr);

}  // namespace fusescope
