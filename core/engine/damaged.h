#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// What is wrong with a part of an engine file.
inline Diagnostic damaged(std::string message) {
  return {.message = "is damaged: " + std::move(message)};
}

}  // namespace fusescope
