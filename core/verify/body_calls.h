#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/steps/body_observer.h"
#include "ir/tensor.h"

namespace fusescope {

/// The inputs of a run of a network, a body or a region.
struct GivenInputs {
  std::string name;            ///< for people: "given", "given 2, iteration 1"
  std::vector<Tensor> values;  ///< in the order of Graph::inputs or FusedNode::inputs
};

/// Records the inputs with which the bodies of one node are called while it runs. For each body and run, it stores the
/// first two calls, and the last call whose number is a power of two, because an iteration of a Loop may read the
/// results of many others.
class BodyCalls final : public BodyObserver {
 public:
  /// `plan` is the plan that is run (FusedNodeSteps::plan()), and must outlive this object.
  BodyCalls(const Plan& plan, NodeId holder);
  void beginRun(std::string name);
  Status called(const Plan& body, const std::function<std::vector<Tensor>()>& inputs) override;
  /// Returns the calls of the body in this attribute, in the order of the runs.
  std::vector<GivenInputs> of(std::string_view attribute) const;

 private:
  struct Run {
    std::string name;
    std::int64_t calls = 0;
    std::map<std::int64_t, std::vector<Tensor>> kept{};  ///< by number of the call
  };

  const Plan& m_plan;
  NodeId m_holder;
  bool m_iterates;
  std::map<const Plan*, std::vector<Run>> m_of;  ///< by body of the node
};

/// Returns the inputs with which a branch of the If `holder` would be called if it were taken in `run`, which has the
/// inputs of the holder's fused node.
GivenInputs branchInputs(const Plan& plan, const FusedNode& holder, const std::string& attribute,
                         const GivenInputs& run);

}  // namespace fusescope
