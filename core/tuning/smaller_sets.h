#pragma once

#include <cstdint>
#include <vector>

#include "tuning/culprits.h"

namespace fusescope {

/// The neighbourhood of switches.
struct SwitchPlaces {
  std::vector<SwitchSet> neighbours;  ///< by switch
  /// The switches with which a set may begin; its other switches must be neighbours of one that it contains. If it is
  /// empty, a set may begin with any switch.
  SwitchSet beginnings{};
};

struct SmallerSet {
  SwitchSet off;          ///< the smallest known set
  bool smallest = false;  ///< no connected set of fewer switches is sufficient; each was tried
};

/// Searches for a set that is smaller than `known`, a result of findCulprits() from which no switch can be left out. It
/// first searches, by bisection, among the switches that are in no set found so far, as long as that succeeds. Then it
/// tries connected sets of switches, smaller ones first, and of these those nearest to `known`. `errorWithout` may be
/// called any number of times; if it returns a cancellation, the smallest set so far is the result. Deterministic.
Result<SmallerSet> smallerSet(const SwitchSet& known, const SwitchPlaces& places, const ErrorWithout& errorWithout,
                              double tolerance);

}  // namespace fusescope
