#pragma once

#include "ops/op_schema.h"

namespace fusescope::ops {

/// Runs a graph with the reference kernels, node by node, and frees each value after its last use. It is made once for
/// a body that runs many times. run() does not change it, so that several threads may use it.
class GraphEvaluator {
 public:
  /// `graph` must outlive the evaluator.
  explicit GraphEvaluator(const Graph& graph);
  /// Runs the graph on one tensor per input, and returns one per output. It checks `stop` before each node.
  Result<std::vector<Tensor>> run(std::span<const Tensor* const> inputs, const StopToken& stop = {}) const;

 private:
  const Graph& m_graph;
  /// For each position in the order of the nodes, the values that no later node reads.
  std::vector<std::vector<ValueId>> m_lastUses;
};

}  // namespace fusescope::ops
