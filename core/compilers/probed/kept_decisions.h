#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compilers/probed/kept_job.h"
#include "ir/decision.h"

namespace fusescope {

/// Returns the decisions about answers that came from the store, or that the store could not provide.
std::vector<Decision> keptDecisions(KeptJob& job, std::string_view compiler, const Cause& by);

}  // namespace fusescope
