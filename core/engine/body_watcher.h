#pragma once

#include <set>

#include "base/result.h"
#include "planning/plan.h"

namespace fusescope {

/// Told of the values in the bodies (If, Loop, Scan) of a plan while they run, at whatever depth: after each run of a
/// body, so once for each iteration. One thread.
class BodyWatcher {
 public:
  virtual ~BodyWatcher() = default;
  /// What is to be seen in `body` besides its inputs and outputs: values that it leaves in memory.
  virtual std::set<ValueId> wanted(const Plan& body) = 0;
  /// The tensor is the caller's own. An error ends the run.
  virtual Status saw(const Plan& body, ValueId value, const Tensor& tensor) = 0;
};

}  // namespace fusescope
