#include "base/age.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace fusescope {

std::int64_t secondsNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string ageInWords(std::int64_t madeAt, std::int64_t now) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits{
      {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}}};
  const std::int64_t age = std::max<std::int64_t>(0, now - madeAt);
  for (const auto& [seconds, unit] : kUnits)
    if (const std::int64_t count = age / seconds; count > 0)
      return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  return "a moment";
}

}  // namespace fusescope
