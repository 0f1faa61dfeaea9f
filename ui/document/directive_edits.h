#pragma once

#include <QMetaType>
#include <QString>
#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Pure functions that edit a list of directives; the window's commands exchange one list for another.

/// Adds a directive of `kind` for each of `names`, in place of earlier ones with exactly that name.
Directives withType(Directives directives, const std::vector<std::string>& names, DirectiveKind kind, DataType type,
                    Strictness strictness);
/// Appends `addition` with an id; it replaces an equal directive (same kind, pattern and rule).
Directives withDirective(Directives directives, Directive addition);
/// Adds a directive of `kind`, which needs only a node and possibly a fusion rule, for each of `names`.
Directives withKind(Directives directives, const std::vector<std::string>& names, DirectiveKind kind,
                    const std::string& rule);
/// Returns the modes of truncation in the directives. withTruncation() replaces them by `modes`.
TruncateModes truncationOf(const Directives& directives);
Directives withTruncation(Directives directives, TruncateModes modes);
/// Removes directives whose pattern is exactly one of `names`.
Directives withoutNodes(Directives directives, const std::vector<std::string>& names);
Directives withoutId(Directives directives, const std::string& id);
/// Returns the directives whose pattern is exactly `name`.
std::vector<const Directive*> directivesNaming(const Directives& directives, const std::string& name);

using Precisions = std::vector<DataType>;  ///< see PlanOptions::precisions
/// Adds `ranges` if the precisions or a pin ask for int8 and there are none, and removes ranges if nothing asks for
/// int8.
PlanOptions withRangesAsAsked(PlanOptions options, const std::shared_ptr<const Ranges>& ranges);
/// Removes the ranges and everything that asks for int8, including pins.
PlanOptions withoutInt8(PlanOptions options);

/// Returns "node_linear_1" or "5 nodes".
QString namesText(const std::vector<std::string>& names);

/// Returns whyNotPinned() in the words of the window.
QString pinRefusal(const Plan& plan, NodeId node, DataType type, bool ranges = false);
/// Returns why no result of the node can be stored in `type`, as whyNotStored() does.
QString outputTypeRefusal(const Plan& plan, NodeId node, DataType type);
/// Returns why the time of `type` cannot be known on this machine, or an empty text.
QString timeUnknownReason(const Plan& plan, DataType type);

}  // namespace fusescope

Q_DECLARE_METATYPE(fusescope::Precisions)
