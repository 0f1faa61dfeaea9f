#pragma once

#include <cstddef>
#include <vector>

#include "engine/engine.h"

namespace fusescope {

/// Computes the times and counts of `report` from the times of `runs` in milliseconds, of which there must be at least
/// one.
void summarise(TimeReport& report, const std::vector<double>& runs);

/// Returns whether the machine was idle during these steps. Steps may become slower one after the other, so each is
/// compared with its neighbours only.
bool quietSteps(const std::vector<double>& stepMs);

/// Returns the indices of the half of the runs, at least one, whose times are closest to the median, in no order. The
/// times of layers are means over these runs only: they are as steady as medians, and unlike medians they add up to the
/// total.
std::vector<std::size_t> middleRuns(const std::vector<double>& runs);
double meanOf(const std::vector<double>& values, const std::vector<std::size_t>& which);

}  // namespace fusescope
