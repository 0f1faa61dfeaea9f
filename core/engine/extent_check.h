#pragma once

#include <map>
#include <optional>
#include <string>

#include "planning/plan.h"

namespace fusescope {

/// Whether the extents of an input are not all known.
bool hasOpenInput(const Graph& graph);
/// The extents of the inputs of `graph` whose extents are open: "x [2, 5], y [3, 5]"; of many the first three, and how
/// many more.
std::string openExtentsInWords(const Graph& graph, const std::map<std::string, Dims>& extents);

/// An error where inputs of these extents break a demand of the network: it names the node, the demand and the inputs.
Status checkDemands(const Plan& plan, const std::map<std::string, Dims>& extents);

/// Why the types that `plan` was made by do not hold where its inputs have these extents: the condition that fails, or
/// the value whose extents are others. Nothing if they hold, and where inference fails: that is told by what follows.
/// Extents that depend on data are not looked at.
std::optional<std::string> brokenCondition(const Plan& plan, const std::map<std::string, Dims>& extents);

/// The plan made again for just these extents of its inputs: slower to have, and right whatever `plan` takes for
/// granted.
Result<std::shared_ptr<const Plan>> planForExtents(const Plan& plan, const std::map<std::string, Dims>& extents,
                                                   const StopToken& stop);
/// `plan`, or where its types do not hold for these extents, the plan for just them.
Result<std::shared_ptr<const Plan>> planAt(const std::shared_ptr<const Plan>& plan,
                                           const std::map<std::string, Dims>& extents, const StopToken& stop);

}  // namespace fusescope
