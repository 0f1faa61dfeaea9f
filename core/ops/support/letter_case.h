#pragma once

#include <string>

#include "base/result.h"

namespace fusescope::ops {

enum class LetterCase { Lower, Upper };

/// Converts UTF-8 text with Unicode's simple case mapping, independent of the locale of the process. Bytes that are not
/// UTF-8 are unchanged.
Result<std::string> inCase(const std::string& text, LetterCase letterCase);

}  // namespace fusescope::ops
