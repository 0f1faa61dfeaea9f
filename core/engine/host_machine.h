#pragma once

#include <string>

namespace fusescope {

/// What measured times depend on besides kernels and threads: CPU model, caches, capabilities, and how this program was
/// compiled. Of the machine that runs, whatever target a plan is for. Text for people; asked once.
const std::string& hostMachine();

/// Today, as measurements are dated: "2026-11-21".
std::string measurementDay();

}  // namespace fusescope
