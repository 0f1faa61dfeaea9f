#pragma once

#include <string_view>

#include "base/json.h"

namespace fusescope {

/// Whether lists and objects are in each other no deeper than anybody needs. What walks, copies and writes JSON does so
/// recursively, and would take all of the stack.
bool isShallow(std::string_view json);

/// The JSON of a file that nobody vouches for; discarded where it is none, or not shallow.
Json untrustedJson(std::string_view text);

}  // namespace fusescope
