#pragma once

#include <cstdint>
#include <vector>

#include "diff/plan_levels.h"

namespace fusescope {

/// What of a plan a change can be about.
enum class Aspect { Kernel, Segment, Type, Stored, Casts, Said };
inline constexpr std::size_t kAspects = 6;
inline bool isOfValues(Aspect aspect) {
  return aspect == Aspect::Stored || aspect == Aspect::Casts;
}

/// How many things a level has at most (PlanLevel::thingOfA()).
std::size_t thingsOf(const PlanLevel& level);

/// One number for each aspect of each node (Kernel, Segment, Type, and Said: what decisions say of it) or value
/// (Stored, Casts) of one level: two plans with equal numbers are equal there. Of nodes by PlanLevel::thingOfA(), 0 of
/// those that a plan has not; of values by ValueId of A: those that it has not are left out.
struct LevelFacts {
  std::vector<std::uint64_t> of[kAspects];
  std::uint64_t at(Aspect aspect, std::uint32_t index) const {
    const auto& table = of[static_cast<std::size_t>(aspect)];
    return index < table.size() ? table[index] : 0;
  }
};

/// Of `plan`, which is of the network of A, or of B, at `level`, in which codes may stand elsewhere; null: no plan
/// there.
LevelFacts factsOf(const PlanLevel& level, const Cover* plan, bool ofA);

}  // namespace fusescope
