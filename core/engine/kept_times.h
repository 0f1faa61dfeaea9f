#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/nearest_times.h"

namespace fusescope {

/// Equal regions of a plan, and what is kept of the times of their tactics.
struct KeptRegion {
  std::string name;          ///< of the first fused node among them
  std::int64_t equal = 1;    ///< how many there are
  std::int64_t tactics = 0;  ///< that a build compares; 1: there is only one, which is timed alone
  std::int64_t timed = 0;    ///< those of them whose times are kept
  /// Only the chosen tactic was timed, because the gain of comparing them was expected to be below the noise.
  bool isOnlyChosen = false;
  std::string firstDay{}, lastDay{};  ///< when the kept times were measured: "2026-11-21"
  /// If no time is kept: the fields in which the nearest kept time differs, of the region or of the conditions in which
  /// it was measured. Empty: nothing similar is kept.
  std::vector<TimeDifference> differs{};

  bool isKept() const { return isOnlyChosen || timed == tactics; }
};

/// Returns for people what is kept of a region, or how the nearest kept time differs.
std::string keptText(const KeptRegion& region);

/// Returns the distinct regions of `plan` of which a build with `options` uses measured times, in the order of the
/// plan, and says what options.timingCache has of them. Nothing is compiled or measured. Regions in bodies of nodes,
/// and nodes that are prepared while they run, are not among them. Errors: those of planning tactics, such as an
/// operator without a kernel or a model without weights; cancelled.
Result<std::vector<KeptRegion>> keptTimes(const std::shared_ptr<const Plan>& plan, const BuildOptions& options);

}  // namespace fusescope
