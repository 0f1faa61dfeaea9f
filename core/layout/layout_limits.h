#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// What is wrong with a graph that is to be laid out, and where in it.
inline Diagnostic badLayout(std::string message, std::string attribute) {
  return {.message = std::move(message), .where = {.attribute = std::move(attribute)}};
}

/// Whether a box can be as wide or high, in pixels.
inline bool isSize(double value) {
  return std::isfinite(value) && value >= 0 && value < 1e7;
}

}  // namespace fusescope
