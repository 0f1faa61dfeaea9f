#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"
#include "planning/plan.h"

namespace fusescope {

/// Receives each call of a body (If, Loop, Scan) of a plan while the plan runs, at any depth of nesting: for a loop,
/// once per iteration. It is called on one thread. If a method returns an error, the run ends with that error.
class BodyObserver {
 public:
  virtual ~BodyObserver() = default;
  /// Returns the values of `body` to observe in addition to its inputs and outputs; they must be values that it stores
  /// in memory.
  virtual std::set<ValueId> wanted(const Plan& /*body*/) { return {}; }
  /// Called before a body runs. `inputs` returns copies of the values that the body is called with, in the order of its
  /// graph's inputs and in the types that these declare.
  virtual Status called(const Plan& body, const std::function<std::vector<Tensor>()>& inputs) = 0;
  /// Called after a body ran. `values` returns copies of the outputs of the body and of the values that wanted() asked
  /// for.
  virtual Status ran(const Plan& /*body*/, const std::function<std::map<ValueId, Tensor>()>& /*values*/) {
    return Done{};
  }
};

}  // namespace fusescope
