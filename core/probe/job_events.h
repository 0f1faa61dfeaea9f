#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

/// Returns the error that a compiler reported, from the probe's event "error".
Diagnostic refusalFrom(const Json& event);

/// Returns the error that a job's process ended during `op`, from the probe's event "ended".
Diagnostic endFrom(const Json& event, std::string_view compiler, std::string_view place, std::string_view op);

}  // namespace fusescope
