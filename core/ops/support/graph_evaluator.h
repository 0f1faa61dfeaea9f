#pragma once

#include "ops/op_schema.h"

namespace fusescope::ops {

/// Runs a graph with the reference kernels, node by node, and lets go of each value after its last use. Made once for
/// a body that runs many times. Not changed by running: may be used from several threads.
class GraphEvaluator {
 public:
  /// `graph` must outlive the evaluator.
  explicit GraphEvaluator(const Graph& graph);
  /// One tensor per input of the graph, in order; one per output comes back. Asks `stop` before each node.
  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs, const StopToken& stop = {}) const;

 private:
  const Graph& m_graph;
  std::vector<std::vector<ValueId>> m_lastUses;  ///< values that nobody reads after the node; by place in the order
};

}  // namespace fusescope::ops
