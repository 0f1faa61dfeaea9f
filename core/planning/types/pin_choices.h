#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

struct Node;

/// Returns the sets of types that are offered as PlanOptions::precisions. Those with int8 need ranges.
std::vector<std::vector<DataType>> precisionChoices();

/// Returns the types that are offered for pins in `plan`: the float types that its target calculates in, the most
/// precise one first, then int8 if there are ranges for it.
std::vector<DataType> pinTypes(const Plan& plan, bool hasRanges);

/// Returns a sentence that says why the node cannot be pinned to `type`; empty if it can. It does not check what only
/// planning can find out, such as whether the node runs in fallback. `hasRanges` says whether there are ranges for
/// int8.
std::string whyNotPinned(const Plan& plan, NodeId node, DataType type, bool hasRanges);

/// Returns a sentence that says why no result of the node can be stored in `type` by an output type; empty if one can.
/// It does not check what only planning can find out.
std::string whyNotStored(const Plan& plan, NodeId node, DataType type);

/// Returns why `target` does not store values in `type`, as a clause: "target X does not store i4"; empty if it does.
std::string whyNotStoredIn(const Target& target, DataType type);

/// Returns why `target` does not calculate `node` in the float type `type`, as a clause: "target X does not compute in
/// bf16"; empty if it does.
std::string whyNotCalculatedIn(const Target& target, const Node& node, DataType type);

}  // namespace fusescope
