#pragma once

#include <string>
#include <string_view>

namespace fusescope {

/// Returns `word` as one word of a POSIX shell: unchanged if no character of it is special, and in single quotes
/// otherwise.
std::string shellQuoted(std::string_view word);

}  // namespace fusescope
