#pragma once

#include <QMetaType>
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
/// One of `kind` for each of `names`, which takes nothing but a node, or a fusion rule as well.
Directives withKind(Directives directives, const std::vector<std::string>& names, DirectiveKind kind,
                    const std::string& rule);
/// What the directives say of truncation, and the same ones saying `modes` instead.
TruncateModes truncationOf(const Directives& directives);
Directives withTruncation(Directives directives, TruncateModes modes);
/// Without those whose pattern is exactly one of `names`.
Directives withoutNodes(Directives directives, const std::vector<std::string>& names);
Directives withoutId(Directives directives, const std::string& id);
/// The directives whose pattern is exactly `name`.
std::vector<const Directive*> directivesNaming(const Directives& directives, const std::string& name);

using Precisions = std::vector<DataType>;  ///< as PlanOptions::precisions
/// `ranges` where the precisions or a pin ask for int8 and there are none, none where nothing does.
PlanOptions withRangesAsAsked(PlanOptions options, const std::shared_ptr<const Ranges>& ranges);
/// Without ranges and all that asks for int8, its pins too.
PlanOptions withoutInt8(PlanOptions options);

/// "node_linear_1" or "5 nodes".
QString namesText(const std::vector<std::string>& names);

/// whyNotPinned() in the words of the window.
QString pinRefusal(const Plan& plan, NodeId node, DataType type, bool ranges = false);
/// Why the time of `type` cannot be known on this machine, or empty.
QString timeUnknownReason(const Plan& plan, DataType type);

}  // namespace fusescope

Q_DECLARE_METATYPE(fusescope::Precisions)
