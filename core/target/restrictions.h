#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "target/node_request.h"
#include "target/target_table.h"

namespace fusescope {

/// A restriction that a node does not meet, or of which that is not known.
struct Finding {
  Holds holds = Holds::No;  ///< No or Unknown
  std::string statement;    ///< what must hold: "the rank of X is 4 or 5"
  std::string code;         ///< validate.*, for No
  Json arguments = Json::object();
};

/// Whether `restriction` holds for the machine that `target` is.
bool appliesTo(const Restriction& restriction, const Target& target);

/// Nothing if `request` meets `restriction`.
std::optional<Finding> findBroken(const NodeRequest& request, const Restriction& restriction);

}  // namespace fusescope
