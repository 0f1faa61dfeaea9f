#pragma once

#include <cstdint>
#include <vector>

#include "diff/plan_levels.h"

namespace fusescope {

/// What of a plan a change can be about.
enum class Aspect { Kernel, Segment, Type, Stored, Casts };
inline constexpr std::size_t kAspects = 5;

/// One number for each aspect of each node (Kernel, Segment, Type) or value (Stored, Casts) of one level: two plans
/// with equal numbers are equal there. By NodeId and ValueId of A; what has no counterpart there is left out.
struct LevelFacts {
  std::vector<std::uint64_t> of[kAspects];
  std::uint64_t at(Aspect aspect, std::uint32_t index) const {
    const auto& table = of[static_cast<std::size_t>(aspect)];
    return index < table.size() ? table[index] : 0;
  }
};

/// Of `plan`, which is of the network of A, or of B, at `level`; null: no plan there.
LevelFacts factsOf(const PlanLevel& level, const Plan* plan, bool ofA);

}  // namespace fusescope
