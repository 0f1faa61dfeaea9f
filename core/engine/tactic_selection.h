#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/tactic.h"
#include "engine/measurer.h"

namespace fusescope {

/// What another way than the backend's guess must gain to be taken: less is not worth a difference between two builds.
constexpr double kGainWorthTaking = 0.03;

/// Of several tactics of one region, what each counts for where formats are planned, as `tactics`; nothing: it is not
/// to be taken. By measured times, absent where there are none: the backend's guess, the first of them, counts for its
/// time, in every format that it comes in; others for `margin` more, or where the samples hardly agree for as much as
/// they leave open, and a little more the further back they stand. So equals are told apart by order and not by noise,
/// and what is given away for that is `margin` at most where the times are well known. The region's nodes one by one
/// (kUnfused) only where that is clearly faster than all fused ways, by `margin` too: the plan says fused. A `margin`
/// of 0 prefers nothing.
std::vector<std::optional<double>> costsOf(std::span<const Tactic> tactics,
                                           std::span<const std::optional<KernelTime>> times,
                                           double margin = kGainWorthTaking);

/// The same where nothing is measured: the backend's best guess, in every format that it comes in.
std::vector<std::optional<double>> costsUnmeasured(std::span<const Tactic> tactics);

}  // namespace fusescope
