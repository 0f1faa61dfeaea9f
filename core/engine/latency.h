#pragma once

#include <cstddef>
#include <vector>

#include "engine/engine.h"

namespace fusescope {

/// Sets the times and counts of `report` from those of runs, in milliseconds. There must be one.
void summarise(TimeReport& report, const std::vector<double>& runs);

/// Returns whether the machine was idle during these steps. Steps may become slower one after the other, so each is
/// compared with its neighbours only.
bool quietSteps(const std::vector<double>& stepMs);

/// The half of the runs, at least one, whose times lie around their median, in no order. The mean over just these is
/// what is told of each layer: it is as steady as a median, and layers add up to the whole, which medians do not.
std::vector<std::size_t> middleRuns(const std::vector<double>& runs);
double meanOf(const std::vector<double>& values, const std::vector<std::size_t>& which);

}  // namespace fusescope
