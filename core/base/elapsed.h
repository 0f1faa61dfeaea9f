#pragma once

#include <chrono>

namespace fusescope {

/// Milliseconds from `start` to now.
inline double msSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace fusescope
