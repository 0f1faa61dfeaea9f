#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/body_observer.h"

namespace fusescope {

/// What a network, a body or a region is run on.
struct GivenInputs {
  std::string name;            ///< for people: "given", "given 2, iteration 1"
  std::vector<Tensor> values;  ///< as Graph::inputs or FusedNode::inputs
};

/// What the bodies of one node are called on while it runs. Of the calls of a body in one run the first two are kept,
/// and the last of those whose number is a power of two: an iteration of a Loop may read what many others made.
class BodyCalls final : public BodyObserver {
 public:
  /// `plan`: as it is run (FusedNodeSteps::plan()). It outlives this.
  BodyCalls(const Plan& plan, NodeId holder);
  void beginRun(std::string name);
  Status called(const Plan& body, const std::function<std::vector<Tensor>()>& inputs) override;
  /// Of the body that is this attribute, in the order of the runs.
  std::vector<GivenInputs> of(std::string_view attribute) const;

 private:
  struct Run {
    std::string name;
    std::int64_t calls = 0;
    std::map<std::int64_t, std::vector<Tensor>> kept{};  ///< by number
  };

  const Plan& m_plan;
  NodeId m_holder;
  bool m_iterates;
  std::map<const Plan*, std::vector<Run>> m_of;  ///< of each body of the node
};

/// What a branch of `holder`, an If, would be called on if it were taken in `run`, which has the inputs of its fused
/// node.
GivenInputs branchInputs(const Plan& plan, const FusedNode& holder, const std::string& attribute,
                         const GivenInputs& run);

}  // namespace fusescope
