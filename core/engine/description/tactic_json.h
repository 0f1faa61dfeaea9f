#pragma once

#include "backends/tactic.h"
#include "base/json_fwd.h"

namespace fusescope {

/// Writes a tactic as engine files store it: `{ name, backend, implementation, parameters, inputs[], outputs[],
/// numerics }`. Formats are written as text; a parameter is an object with one key that names its kind.
Json toJson(const Tactic& tactic);
/// Reads what toJson() wrote, and throws Json::exception for other contents. Returns nothing for an unknown format or
/// kind.
std::optional<Tactic> tacticFromJson(const Json& json);

}  // namespace fusescope
