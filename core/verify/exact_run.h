#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/steps/fused_node_steps.h"
#include "verify/kept_values.h"

namespace fusescope {

class Graph;
struct Node;

/// Computes the exact values of several samples on demand, in the order of the network. The caller stores the inputs.
class ExactRun {
 public:
  virtual ~ExactRun() = default;
  /// Announces the values that it will read itself.
  virtual void countUses(KeptValues& values) = 0;
  /// Continues until all of `needed` that it can compute are in `values`.
  virtual Status advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) = 0;
};

/// Computes exact values with a plan in float32; they are the values that this plan writes to memory.
class ExactPlanRun final : public ExactRun {
 public:
  /// `samples` are the names of the samples, and must outlive this object.
  ExactPlanRun(FusedNodeSteps& steps, std::span<const std::string> samples);
  void countUses(KeptValues& values) override;
  Status advance(std::span<const ValueId> needed, KeptValues& values, const StopToken& stop) override;

 private:
  FusedNodeSteps& m_steps;
  std::span<const std::string> m_samples;
  std::map<ValueId, std::size_t> m_made;  ///< index of the fused node that makes it
  std::size_t m_next = 0;
};

/// Computes exact values in double precision, node by node with the reference kernels: every float of 16 and 32 bits is
/// replaced by one of 64 bits. A node whose operator has no kernel for double runs in the model's types. Roundings that
/// the author asks for (a Cast to a narrower float) are done.
class ExactDoubleRun final : public ExactRun {
 public:
  /// `samples` are the names of the samples. `narrow` gets the operators that did not run in double precision, with the
  /// names of their nodes. Both must outlive this object.
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

/// Runs a fused node on `values` of all `samples`, whose names are used in errors. The result is by output, then by
/// sample.
Result<std::vector<std::vector<Tensor>>> runOnSamples(FusedNodeSteps::Step& step, const FusedNode& fused,
                                                      const KeptValues& values, std::span<const std::string> samples,
                                                      const StopToken& stop);

}  // namespace fusescope
