#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/tactic.h"
#include "engine/tactics/measurer.h"
#include "ir/decision.h"

namespace fusescope {

/// The share of time that running a region node by node must save to be chosen.
constexpr double kGainWorthTaking = 0.03;

/// The cost of a tactic in the plan of formats.
struct TacticCost {
  double ms = 0;
  std::size_t place = 0;  ///< the rank, see FormatProblem::Way
  bool operator==(const TacticCost&) const = default;
};

/// The times of several tactics of one region that were measured side by side at one moment, by tactic.
using MeasuredMoment = std::vector<std::optional<KernelTime>>;

/// Combines the measurements of all moments into one time for each tactic. Between two tactics the earlier one is
/// preferred, because the backend gives its best guess first. If the measurements do not distinguish two tactics, the
/// later one gets the time of the earlier one, so that two builds with similar measurements choose alike. Two tactics
/// are distinguished only if one is faster at every moment at which both were measured, and by more than the spread of
/// their best times.
std::vector<std::optional<KernelTime>> distinguishedTimes(std::span<const MeasuredMoment> moments);

/// Returns the fastest of these times; null if there is none.
const KernelTime* fastestTime(std::span<const std::optional<KernelTime>> times);

/// Returns the share of the first tactic's time that the fastest one saves, as far as the samples distinguish them; 0
/// if the first one has no time. `times` is not empty.
double savedShare(std::span<const std::optional<KernelTime>> times);

/// Returns the decision (build.disturbed) that says how many of `times`, measured by a build, were measured on a
/// machine that was not quiet; nothing if none was.
std::optional<Decision> disturbance(std::span<const KernelTime> times);

/// Returns the costs of several tactics of one region in the plan of formats, in the order of `tactics`; nothing for a
/// tactic that must not be chosen. Costs are measured times where there are some: the backend's first guess is
/// preferred in each format in which it exists, and then other kernels in the backend's order. Running the region node
/// by node (kUnfused) gets a cost only if it is clearly faster than all fused ways, and by at least `margin`, because
/// the plan says that the region is fused.
std::vector<std::optional<TacticCost>> costsOf(std::span<const Tactic> tactics,
                                               std::span<const std::optional<KernelTime>> times,
                                               double margin = kGainWorthTaking);

/// Returns the costs if nothing is measured: the backend's best guess is chosen, in each format in which it exists.
/// `ms` is the predicted time of the region, by which the format planner weighs it against others.
std::vector<std::optional<TacticCost>> costsUnmeasured(std::span<const Tactic> tactics, double ms = 0);

/// Returns `costs` in which every fused tactic that was not measured costs as much as the cheapest of the others: what
/// the formats of a region may save if all its tactics are equally fast.
std::vector<std::optional<TacticCost>> assumedCosts(std::span<const Tactic> tactics,
                                                    std::span<const std::optional<KernelTime>> times,
                                                    std::vector<std::optional<TacticCost>> costs);

}  // namespace fusescope
