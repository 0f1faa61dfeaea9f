#pragma once

#include <string>

namespace fusescope {

/// The machine that runs, as runs name it: hostFingerprint() in words. Asked once.
const std::string& hostMachine();

/// Today, as measurements are dated: "2026-11-21".
std::string measurementDay();

}  // namespace fusescope
