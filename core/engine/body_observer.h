#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/result.h"
#include "planning/plan.h"

namespace fusescope {

/// Told of each call of a body (If, Loop, Scan) of a plan where it runs, at whatever depth: so once for each iteration.
/// One thread. An error ends the run.
class BodyObserver {
 public:
  virtual ~BodyObserver() = default;
  /// Returns the values of `body` to observe in addition to its inputs and outputs; they must be values that it stores
  /// in memory.
  virtual std::set<ValueId> wanted(const Plan& /*body*/) { return {}; }
  /// Before a run. `inputs` copies what the body is called on, as the inputs of its graph, at the types that these
  /// declare.
  virtual Status called(const Plan& body, const std::function<std::vector<Tensor>()>& inputs) = 0;
  /// After a run. `values` copies the outputs of the body and what is wanted.
  virtual Status ran(const Plan& /*body*/, const std::function<std::map<ValueId, Tensor>()>& /*values*/) {
    return Done{};
  }
};

}  // namespace fusescope
