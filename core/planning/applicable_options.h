#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"

namespace fusescope {

/// The part of plan options that still applies after the model has changed, and the part that does not, with the
/// reasons.
struct ApplicableOptions {
  struct Dropped {
    Directive directive;
    std::string why;  ///< for people
  };
  PlanOptions options;
  std::vector<Dropped> dropped;
};

/// Keeps each directive whose pattern matches something in `model` and that does not contradict an earlier one. It is
/// an error if the target is unknown, or if `stop` was requested.
Result<ApplicableOptions> applicableOptions(const Model& model, const PlanOptions& options, const StopToken& stop = {});

}  // namespace fusescope
