#pragma once

#include <string_view>

namespace fusescope::testing {

/// Whether a text has another in it.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace fusescope::testing
