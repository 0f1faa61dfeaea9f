#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// Cancellation is std::stop_token; long work asks often and returns Diagnostic::cancellation().
using StopToken = std::stop_token;

inline Status checkStop(const StopToken& stop) {
  if (stop.stop_requested()) return Diagnostic::cancellation();
  return Done{};
}

/// Progress of long work: the phase that begins, and what it is about to do. Called from the working thread.
using Progress = std::function<void(std::string_view phase, std::string_view detail)>;

}  // namespace fusescope
