#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/tactic.h"
#include "engine/measurer.h"

namespace fusescope {

/// Of several tactics of one region, what each counts for where formats are planned, as `tactics`; nothing: it is not
/// to be taken. By measured times, absent where there are none: those that the fastest does not clearly beat count like
/// it, so that not noise chooses among them but the number of conversions and the backend's order. The region's nodes
/// one by one (kUnfused) only where that is clearly faster than all fused ways: the plan says fused.
std::vector<std::optional<double>> costsOf(std::span<const Tactic> tactics,
                                           std::span<const std::optional<KernelTime>> times);

/// The same where nothing is measured: the backend's best guess, in every format that it comes in.
std::vector<std::optional<double>> costsUnmeasured(std::span<const Tactic> tactics);

}  // namespace fusescope
