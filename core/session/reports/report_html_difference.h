#pragma once

#include <string>

#include "base/json_fwd.h"

namespace fusescope {

/// Returns the whole content of a report on a difference.
std::string reportOfDifference(const Json& report, const std::string& svg);

}  // namespace fusescope
