#pragma once

#include <map>
#include <optional>
#include <string>

#include "planning/plan.h"

namespace fusescope {

class Graph;

/// Returns whether some extents of the inputs are unknown.
bool hasOpenInput(const Graph& graph);
/// Returns the extents of the inputs of `graph` that are open, as text: "x [2, 5], y [3, 5]". If there are many, it
/// lists three and says how many there are besides.
std::string openExtentsInWords(const Graph& graph, const std::map<std::string, Dims>& extents);

/// Returns an error if inputs with these extents violate a requirement of the network. The error names the node, the
/// requirement and the inputs.
Status checkDemands(const Plan& plan, const std::map<std::string, Dims>& extents);

/// Returns why the types of `plan` are wrong for inputs with these extents: the condition that fails, or the value that
/// gets other extents. Returns nothing if the types are right, and also if inference fails, because a later step
/// reports that error. Extents that depend on data are not checked.
std::optional<std::string> brokenCondition(const Plan& plan, const std::map<std::string, Dims>& extents);

/// Plans again for exactly these extents of the inputs. This is slower, and right whatever `plan` assumes.
Result<std::shared_ptr<const Plan>> planForExtents(const Plan& plan, const std::map<std::string, Dims>& extents,
                                                   const StopToken& stop);
/// Returns `plan` if its types are right for these extents, and otherwise a plan for exactly these extents.
Result<std::shared_ptr<const Plan>> planAt(const std::shared_ptr<const Plan>& plan,
                                           const std::map<std::string, Dims>& extents, const StopToken& stop);

}  // namespace fusescope
