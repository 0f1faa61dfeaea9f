#pragma once

#include <string>

namespace fusescope {

/// Returns the name of this machine as runs record it: hostFingerprint() in words. It is determined once.
const std::string& hostMachine();

/// Returns the current date in the form in which measurements are dated: "2026-11-21".
std::string measurementDay();

}  // namespace fusescope
