#include "compilers/probed/kept_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fusescope {

std::string ageInWords(std::int64_t madeAt, std::int64_t now) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits{
      {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}}};
  const std::int64_t age = std::max<std::int64_t>(0, now - madeAt);
  for (const auto& [seconds, unit] : kUnits)
    if (const std::int64_t count = age / seconds; count > 0)
      return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  return "a moment";
}

std::vector<Decision> keptDecisions(KeptJob& job, std::string_view compiler, const Cause& by) {
  std::vector<Decision> said;
  if (const auto& found = job.found())
    said.push_back(decide("cache.found", {}, by,
                          {{"compiler", compiler},
                           {"where", found->where},
                           {"age", ageInWords(found->madeAt, secondsNow())},
                           {"made_at", found->madeAt},
                           {"made_by", found->facts.madeBy},
                           {"took_ms", found->facts.madeMs}}));
  for (const DamagedEntry& entry : job.store().takeDamaged())
    said.push_back(decide("cache.entry_damaged", {}, by, {{"about", entry.about}, {"why", entry.why}}));
  if (const std::string problem = job.store().problem(); !problem.empty())
    said.push_back(decide("cache.store", {}, by, {{"problem", problem}}));
  return said;
}

}  // namespace fusescope
