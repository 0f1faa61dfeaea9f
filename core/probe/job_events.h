#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace fusescope {

/// What a compiler refused, from the probe's event "error".
Diagnostic refusalFrom(const Json& event);

/// That a job's process ended while it worked on `op`, from the probe's event "ended".
Diagnostic endFrom(const Json& event, std::string_view compiler, std::string_view place, std::string_view op);

}  // namespace fusescope
