#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

struct Node;

/// The sets of types that are offered as PlanOptions::precisions. Those with int8 need ranges.
std::vector<std::vector<DataType>> precisionChoices();

/// The types that are offered for pins in `plan`: the float types that its target calculates in, the most precise one
/// first, then int8 if there are ranges for it.
std::vector<DataType> pinTypes(const Plan& plan, bool hasRanges);

/// Why a pin of `node` to `type` would not be granted, as a sentence about the node by its name; empty if it may be.
/// What only planning can find out, such as whether the node runs in fallback, is not asked. `hasRanges`: there are
/// ranges for int8.
std::string whyNotPinned(const Plan& plan, NodeId node, DataType type, bool hasRanges);

/// Why `target` does not calculate `node` in the float type `type`, as a clause: "target X does not compute in bf16";
/// empty if it does.
std::string whyNotCalculatedIn(const Target& target, const Node& node, DataType type);

}  // namespace fusescope
