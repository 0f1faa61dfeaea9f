#pragma once

#include "backends/tactic.h"
#include "base/json.h"

namespace fusescope {

/// A tactic as engine files keep it: `{ name, backend, implementation, parameters, inputs[], outputs[], numerics }`.
/// Formats are their text; a parameter is an object with one key that says its kind.
Json toJson(const Tactic& tactic);
/// Throws Json::exception on what toJson() does not write; nothing for a format or a kind that is not known here.
std::optional<Tactic> tacticFromJson(const Json& json);

}  // namespace fusescope
