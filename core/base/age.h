#pragma once

#include <cstdint>
#include <string>

namespace fusescope {

/// Returns the present time in seconds since 1970, UTC.
std::int64_t secondsNow();

/// Returns how long before `now` the time `madeAt` was, in words: "3 minutes", "2 days". A time in the future, from a
/// clock that was set back since, is "a moment".
std::string ageInWords(std::int64_t madeAt, std::int64_t now);

}  // namespace fusescope
