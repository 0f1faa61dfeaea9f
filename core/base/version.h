#pragma once

#include <string_view>

namespace fusescope {

/// The version of this program.
inline constexpr std::string_view kFusescopeVersion = "0.1.0";

}  // namespace fusescope
