#pragma once

#include <utility>
#include <vector>

#include "diff/causes.h"
#include "diff/plan_diff.h"

// These add the parts of a diff, each for one level of the two plans. `causes` is null if no causes are needed.

namespace fusescope {

void addFusionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addFateChanges(const PlanLevel& level, PlanDiff& diff);
void addSegmentChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addTypeChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addCastChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addDecisionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addTimeChanges(const PlanLevel& level, const DiffInput& a, const DiffInput& b, PlanDiff& diff);
void addErrorChanges(const PlanLevel& level, const DiffErrors& a, const DiffErrors& b, PlanDiff& diff);

/// Adds constants whose elements differ in the files.
void addConstantChanges(const PlanLevel& level, const FileMatch& files, PlanDiff& diff);

/// Returns the latest errors of both sides that were measured in the same way, or else the latest of each. A pointer is
/// null if that side has no errors.
std::pair<const DiffErrors*, const DiffErrors*> comparableErrors(const DiffInput& a, const DiffInput& b);

/// Returns the predicted time `ms`; nothing if it is unknown.
std::optional<DiffTime> predicted(std::optional<double> ms, PriceSource how);
/// Returns the time of a fused node on one side, if it is known.
std::optional<DiffTime> timeOf(const FusedNode& fused, const DiffInput& input);

/// Return the place of a node of A or of B.
ChangePlace placeInA(const PlanLevel& level, NodeId node);
ChangePlace placeInB(const PlanLevel& level, NodeId node);
/// Returns what runs a segment, as text: "accelerated, native".
std::string runBy(const Segment& segment);
/// Returns how a group of sets changed. `singlesOfA` says that no set of A in it has more than one thing; `singlesOfB`
/// the same for B.
GroupChange changeOf(const SetGroup& group, bool singlesOfA, bool singlesOfB);

}  // namespace fusescope
