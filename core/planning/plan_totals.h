#pragma once

#include <cstdint>
#include <optional>

#include "planning/cover.h"

namespace fusescope {

/// What a cover comes to.
struct PlanTotals {
  std::int64_t fusedNodes = 0, casts = 0;
  std::optional<std::int64_t> flops = 0, bytes = 0;  ///< nothing where an extent is not known; bytes with conversions
  std::optional<CostRange> range;                    ///< times of all or of nothing; null where extents are fixed
};

/// Of the cover alone: a node with bodies counts as one fused node and moves what it reads and leaves.
PlanTotals totalsWithoutBodies(const Cover& cover);

/// Of the covers of all bodies, at whatever depth, each as if it ran once.
struct BodyTotals {
  std::int64_t bodies = 0;
  PlanTotals inside;
};
BodyTotals totalsOfBodies(const Cover& cover);

}  // namespace fusescope
