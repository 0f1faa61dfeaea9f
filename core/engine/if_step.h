#pragma once

#include <memory>

#include "engine/control_flow_step.h"

namespace fusescope {

/// A branch of an If: its programs, and the operands of the node that it captures.
struct Branch {
  std::unique_ptr<BodyPrograms> programs;
  std::size_t firstCapture = 0;
  std::vector<Dims> extents;  ///< the extents of the captured operands in the current run
};

/// Runs the selected branch directly on the surrounding values, which are not copied. Its results are written to their
/// final place.
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
