#pragma once

#include "backends/native/lowering/region_facts.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::native {

/// Returns which of the `rank` axes of its input a reduction or global pooling reduces; nothing if that depends on data
/// or if it reduces none.
std::optional<std::vector<bool>> reducedAxes(const RegionFacts& region, const Node& reduce, std::size_t rank);

}  // namespace fusescope::native
