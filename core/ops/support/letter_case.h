#pragma once

#include <string>

#include "base/result.h"

namespace fusescope::ops {

enum class LetterCase { Lower, Upper };

/// UTF-8 text with each code point mapped by Unicode's simple case mapping, whatever the locale of the process. Bytes
/// that are not UTF-8 stay as they are.
Result<std::string> inCase(const std::string& text, LetterCase letterCase);

}  // namespace fusescope::ops
