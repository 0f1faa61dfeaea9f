#pragma once

#include <string>
#include <string_view>

namespace fusescope {

/// `word` as one word of a POSIX shell: as it is, or in single quotes.
std::string shellQuoted(std::string_view word);

}  // namespace fusescope
