#pragma once

#include <cstdint>
#include <vector>

#include "diff/plan_levels.h"

namespace fusescope {

/// The aspects of a plan that can change.
enum class Aspect { Kernel, Segment, Type, Stored, Casts, Said };
inline constexpr std::size_t kAspects = 6;
inline bool isOfValues(Aspect aspect) {
  return aspect == Aspect::Stored || aspect == Aspect::Casts;
}

/// Returns an upper bound for the things of a level (PlanLevel::nodeNumberOfA()).
std::size_t thingsOf(const PlanLevel& level);

/// The facts of one level as numbers: one for each aspect of each node (Kernel, Segment, Type, and Said for the
/// decisions about it), or of each value (Stored, Casts). If the numbers of two plans are equal, the plans are equal
/// there. Nodes are indexed by PlanLevel::nodeNumberOfA(), and nodes that a plan does not have get 0; values are
/// indexed by the ValueId of A, and values that A does not have are omitted.
struct LevelFacts {
  std::vector<std::uint64_t> of[kAspects];
  std::uint64_t at(Aspect aspect, std::uint32_t index) const {
    const auto& table = of[static_cast<std::size_t>(aspect)];
    return index < table.size() ? table[index] : 0;
  }
};

/// Computes the facts of `plan` at `level`. `ofA` says whether `plan` belongs to network A or to network B; in the two
/// networks quantised codes may be inserted at different places. If `plan` is null, the side has no plan at this level
/// and all facts are 0.
LevelFacts factsOf(const PlanLevel& level, const Cover* plan, bool ofA);

}  // namespace fusescope
