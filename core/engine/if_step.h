#pragma once

#include <memory>

#include "engine/control_flow_step.h"

namespace fusescope {

/// A branch of an If: its programs, and which of the node's operands it captures.
struct Branch {
  std::unique_ptr<BodyPrograms> programs;
  std::size_t firstCapture = 0;
  std::vector<Dims> extents;  ///< of what it captures, in the run under way
};

/// Runs the branch that is taken on the values around it, which are not copied; what it makes is written where the
/// results belong.
class IfStep final : public ControlFlowStep {
 public:
  IfStep(ControlFlowParts parts, Branch thenBranch, Branch elseBranch);
  void addWeights(PackedSet& weights) const override;

 protected:
  Status execute(ResultSink& results, const StopToken& stop) override;

 private:
  Branch m_then, m_else;
};

}  // namespace fusescope
