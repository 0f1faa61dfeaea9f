#pragma once

#include <utility>
#include <vector>

#include "diff/causes.h"
#include "diff/plan_diff.h"

// The parts of a diff, each of one level of the two plans. `causes` is null where none are asked for.

namespace fusescope {

void addFusionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addFateChanges(const PlanLevel& level, PlanDiff& diff);
void addSegmentChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addTypeChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addCastChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addDecisionChanges(const PlanLevel& level, std::size_t place, CauseFinder* causes, PlanDiff& diff);
void addTimeChanges(const PlanLevel& level, const DiffInput& a, const DiffInput& b, PlanDiff& diff);
void addErrorChanges(const PlanLevel& level, const DiffErrors& a, const DiffErrors& b, PlanDiff& diff);

/// Constants with other elements, as the files have them.
void addConstantChanges(const PlanLevel& level, const FileMatch& files, PlanDiff& diff);

/// The newest errors of both sides that were measured alike; else the newest of each. Null: a side has none.
std::pair<const DiffErrors*, const DiffErrors*> comparableErrors(const DiffInput& a, const DiffInput& b);

/// What was predicted to take `ms`; nothing where that is not known.
std::optional<DiffTime> predicted(std::optional<double> ms, PriceSource how);
/// What a fused node takes on one side, if it is known.
std::optional<DiffTime> timeOf(const FusedNode& fused, const DiffInput& input);

/// Where a node of A, or of B, stands.
ChangePlace placeInA(const PlanLevel& level, NodeId node);
ChangePlace placeInB(const PlanLevel& level, NodeId node);
/// "accelerated, native"
std::string runBy(const Segment& segment);
/// What a group of sets is that is not the same; `singlesOfA`: none of its sets in A has more than one thing.
GroupChange changeOf(const SetGroup& group, bool singlesOfA, bool singlesOfB);

}  // namespace fusescope
