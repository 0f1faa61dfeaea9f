#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// Returns the error for a damaged part of an engine file; `message` says what is wrong with it.
inline Diagnostic damaged(std::string message) {
  return {.message = "is damaged: " + std::move(message)};
}

}  // namespace fusescope
