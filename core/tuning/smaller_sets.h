#pragma once

#include <cstdint>
#include <vector>

#include "tuning/culprits.h"

namespace fusescope {

/// How switches lie: what belongs together lies together.
struct SwitchPlaces {
  std::vector<SwitchSet> neighbours;  ///< by switch
  /// The switches that a set begins with; the others of it are neighbours of one that it has. Empty: with any.
  SwitchSet beginnings{};
};

struct SmallerSet {
  SwitchSet off;          ///< the smallest that is known
  bool smallest = false;  ///< no set of fewer switches that lie together does: each was tried
};

/// findCulprits() ends with a set of which no switch can be left out. A smaller one may lie elsewhere. This looks for
/// it: among the switches that no set has yet that was found, again by halves, as long as there are any that do; then
/// it tries sets of switches that lie together, the smallest first, and of these those nearest to `known`.
/// `errorWithout` says what any number of times it is asked, and is cancelled where nothing more may be tried: then the
/// smallest so far is the answer. Deterministic.
Result<SmallerSet> smallerSet(const SwitchSet& known, const SwitchPlaces& places, const ErrorWithout& errorWithout,
                              double tolerance);

}  // namespace fusescope
