#pragma once

#include "backends/native/region_facts.h"

namespace fusescope::native {

/// Which of the `rank` axes of its input a reduction or global pooling takes together; nothing if that depends on data
/// or it takes none.
std::optional<std::vector<bool>> reducedAxes(const RegionFacts& region, const Node& reduce, std::size_t rank);

}  // namespace fusescope::native
