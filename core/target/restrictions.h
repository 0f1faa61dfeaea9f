#pragma once

#include <optional>
#include <string>

#include "ir/decision_arguments.h"
#include "target/node_request.h"
#include "target/target_table.h"

namespace fusescope {

/// A restriction that a node does not satisfy, or of which this is not known.
struct Finding {
  Holds holds = Holds::No;  ///< No or Unknown
  std::string statement;    ///< the requirement, such as "the rank of X is 4 or 5"
  std::string code;         ///< validate.*, if `holds` is No
  DecisionArguments arguments = {};
};

/// Returns whether `restriction` applies to the machine of `target`.
bool appliesTo(const Restriction& restriction, const Target& target);

/// Returns nothing if `request` satisfies `restriction`.
std::optional<Finding> findBroken(const NodeRequest& request, const Restriction& restriction);

}  // namespace fusescope
