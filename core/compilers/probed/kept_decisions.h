#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/kept_job.h"
#include "ir/decision.h"

namespace fusescope {

/// How long ago something was kept, in words: "3 minutes", "2 days". A time in the future, by a clock that was set back
/// since, is "a moment".
std::string ageInWords(std::int64_t madeAt, std::int64_t now);

/// What is to be said of an answer that came from the store, or that the store could not give.
std::vector<Decision> keptDecisions(KeptJob& job, std::string_view compiler, const Cause& by);

}  // namespace fusescope
