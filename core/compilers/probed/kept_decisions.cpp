#include "compilers/probed/kept_decisions.h"

#include "base/age.h"

namespace fusescope {

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
