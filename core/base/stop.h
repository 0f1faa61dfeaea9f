#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "base/result.h"

namespace fusescope {

/// Long work is cancelled with a std::stop_token: it calls checkStop() often and returns Diagnostic::cancellation().
using StopToken = std::stop_token;

inline Status checkStop(const StopToken& stop) {
  if (stop.stop_requested()) return Diagnostic::cancellation();
  return Done{};
}

/// A function that long work calls to report the phase that begins and what is done in it. It is called in the working
/// thread.
using Progress = std::function<void(std::string_view phase, std::string_view detail)>;

}  // namespace fusescope
