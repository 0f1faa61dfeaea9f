#pragma once

#include "backends/native/region_facts.h"

namespace fusescope::native {

// Who makes and reads a value within a fused node. Where values lie depends on it. Emitters take what they run from the
// bindings of the plan instead; tests/unit/layering names the files that still find it by walking, and no other file
// may include this header.

std::vector<NodeId> consumers(const RegionFacts& region, ValueId value);
/// The only consumer of a value that nobody else needs.
std::optional<NodeId> onlyConsumer(const RegionFacts& region, ValueId value);
std::optional<NodeId> producer(const RegionFacts& region, ValueId value);
/// The nodes on the ways from `from` to `to`; empty if there is no way.
std::set<NodeId> between(const RegionFacts& region, ValueId from, ValueId to);
/// Whether nobody but `nodes` needs what they make, besides `result`.
bool leavesOnly(const RegionFacts& region, const std::set<NodeId>& nodes, ValueId result);

}  // namespace fusescope::native
