#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/fused_node_steps.h"
#include "verify/kept_values.h"

namespace fusescope {

/// Makes the exact values of several samples, as far as they are asked for, in the order of the network. The inputs are
/// kept by the caller.
class ExactRun {
 public:
  virtual ~ExactRun() = default;
  /// Says what it will read itself.
  virtual void countUses(KeptValues& values) = 0;
  /// Goes on until `needed` are among `values`, as far as it makes them at all.
  virtual Status advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) = 0;
};

/// By a plan in float32: what that leaves in memory.
class ExactPlanRun final : public ExactRun {
 public:
  /// `samples`: their names; they outlive this.
  ExactPlanRun(FusedNodeSteps& steps, std::span<const std::string> samples);
  void countUses(KeptValues& values) override;
  Status advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) override;

 private:
  FusedNodeSteps& m_steps;
  std::span<const std::string> m_samples;
  std::map<ValueId, std::size_t> m_made;  ///< place of the fused node that makes it
  std::size_t m_next = 0;
};

/// In double precision, node by node, by the reference kernels: every float of 16 and 32 bits is one of 64. A node
/// whose operator has no kernel for that runs at the model's types. What the network's author rounds on purpose (a Cast
/// to a narrower float) is rounded.
class ExactDoubleRun final : public ExactRun {
 public:
  /// `samples`: their names. `narrow` takes the operators that did not run in double precision, with how many nodes of
  /// each. Both outlive this.
  ExactDoubleRun(const Graph& graph, std::span<const std::string> samples,
                 std::map<std::string, std::set<std::string>>& narrow)
      : m_graph(graph), m_samples(samples), m_narrow(narrow) {}
  void countUses(KeptValues& values) override;
  Status advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) override;

 private:
  Status runNode(const Node& node, KeptValues& values, const StopToken& stop);
  Result<std::vector<Tensor>> run(const Node& node, const std::vector<Tensor>& operands, const StopToken& stop);

  const Graph& m_graph;
  std::span<const std::string> m_samples;
  std::map<std::string, std::set<std::string>>& m_narrow;
  std::map<NodeId, std::size_t> m_place;
  std::size_t m_next = 0;
};

/// Runs a fused node on `values` of all `samples`, which errors name: by output, then by sample.
Result<std::vector<std::vector<Tensor>>> runOnSamples(FusedNodeSteps::Step& step, const FusedNode& fused,
                                                      const KeptValues& values, std::span<const std::string> samples,
                                                      const StopToken& stop);

}  // namespace fusescope
