#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/tactic.h"
#include "engine/measurer.h"
#include "ir/decision.h"

namespace fusescope {

/// What running a region's nodes one by one must gain to be taken.
constexpr double kGainWorthTaking = 0.03;

/// What a tactic counts for where formats are planned.
struct TacticCost {
  double ms = 0;
  std::size_t place = 0;  ///< as FormatProblem::Way
  bool operator==(const TacticCost&) const = default;
};

/// The times of several tactics of one region at one moment, at which they were measured side by side; by tactic.
using MeasuredMoment = std::vector<std::optional<KernelTime>>;

/// What all moments together say of each tactic. Which of two tactics is preferred is known before anything is
/// measured: the earlier one, for the backend gives its best guess first. Of two that measuring cannot tell apart the
/// later one counts as taking what the earlier one takes, so that two builds that measure alike choose alike. They are
/// told apart only where one is faster at every moment at which both were measured, and by more than the spread of
/// their best times.
std::vector<std::optional<KernelTime>> toldApart(std::span<const MeasuredMoment> moments);

/// Says how many of `times`, measured by a build, are of a machine that was not quiet (build.disturbed); nothing where
/// none is.
std::optional<Decision> disturbance(std::span<const KernelTime> times);

/// Of several tactics of one region, what each counts for where formats are planned, as `tactics`; nothing: it is not
/// to be taken. By measured times, absent where there are none: the backend's guess, the first of them, is preferred in
/// every format that it comes in, and other kernels in the backend's order. The region's nodes one by one (kUnfused)
/// only where that is clearly faster than all fused ways, by `margin` too: the plan says fused.
std::vector<std::optional<TacticCost>> costsOf(std::span<const Tactic> tactics,
                                               std::span<const std::optional<KernelTime>> times,
                                               double margin = kGainWorthTaking);

/// The same where nothing is measured: the backend's best guess, in every format that it comes in.
std::vector<std::optional<TacticCost>> costsUnmeasured(std::span<const Tactic> tactics);

}  // namespace fusescope
