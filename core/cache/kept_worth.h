#pragma once

#include <cstdint>

namespace fusescope {

/// What keeping something is worth: the time that it saved and would save at the next use, reduced the longer it has
/// not been used, for each byte.
struct KeptWorth {
  double perByte = 0;
  std::int64_t bytes = 0;
};

}  // namespace fusescope
