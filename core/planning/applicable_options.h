#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// Plan options after what they were made for has changed: what still applies, and what does not and why.
struct ApplicableOptions {
  struct Dropped {
    Directive directive;
    std::string why;  ///< for people
  };
  PlanOptions options;
  std::vector<Dropped> dropped;
};

/// Keeps each directive whose pattern names something in `model` and that does not contradict one before it. Errors: an
/// unknown target; cancelled.
Result<ApplicableOptions> applicableOptions(const Model& model, const PlanOptions& options, const StopToken& stop = {});

}  // namespace fusescope
