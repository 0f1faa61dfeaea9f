#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/kept_job.h"
#include "ir/decision.h"

namespace fusescope {

/// Returns how long ago something was kept, in words: "3 minutes", "2 days". A time in the future, from a clock that
/// was set back since, is "a moment".
std::string ageInWords(std::int64_t madeAt, std::int64_t now);

/// Returns the decisions about answers that came from the store, or that the store could not provide.
std::vector<Decision> keptDecisions(KeptJob& job, std::string_view compiler, const Cause& by);

}  // namespace fusescope
