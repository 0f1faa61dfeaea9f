#pragma once

#include <QString>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Edits of the list of directives as pure functions: the window's commands swap one list for another.

/// One directive of `kind` for each of `names`, in place of those that named exactly it before.
Directives withType(Directives directives, const std::vector<std::string>& names, DirectiveKind kind, DataType type,
                    Strictness strictness);
/// `addition` at the end, with an id; replaces an equal wish (same kind, pattern and rule).
Directives withDirective(Directives directives, Directive addition);
/// Without those whose pattern is exactly one of `names`.
Directives withoutNodes(Directives directives, const std::vector<std::string>& names);
Directives withoutId(Directives directives, const std::string& id);
/// The directives whose pattern is exactly `name`.
std::vector<const Directive*> directivesNaming(const Directives& directives, const std::string& name);

/// "node_linear_1" or "5 nodes".
QString namesText(const std::vector<std::string>& names);

/// May this node be pinned to `type` under this plan? An empty text: yes; else why not, for people.
QString pinRefusal(const Plan& plan, NodeId node, DataType type);
/// The float types that the target computes in, most precise first.
std::vector<DataType> pinTypes(const Plan& plan);
/// Why the time of `type` cannot be known on this machine, or empty.
QString timeUnknownReason(const Plan& plan, DataType type);

}  // namespace fusescope
