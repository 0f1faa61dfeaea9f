#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "base/result.h"

namespace fusescope {

/// Makes an error about a graph that is to be laid out. `attribute` is the place of the error in it.
inline Diagnostic badLayout(std::string message, std::string attribute) {
  return {.message = std::move(message), .where = {.attribute = std::move(attribute)}};
}

/// Returns whether a box can have this width or height, in px.
inline bool isSize(double value) {
  return std::isfinite(value) && value >= 0 && value < 1e7;
}

}  // namespace fusescope
