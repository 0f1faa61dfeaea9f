#pragma once

#include <cstdint>

#include "backends/reference/reference_nodes.h"

namespace fusescope {

class Graph;
struct Node;

/// Simulates one of the many ways in which a right kernel may round. Kernels may add in another order, contract a
/// product and a sum, or approximate a function, so that each number that a node calculates may have a small error.
/// RoundingNoise changes every such number by as much as is allowed, up or down; consequences inside the region
/// (another rounding, another integer, another branch) follow by themselves. Numbers that are selected, moved or
/// compared are exact. NaN has no value as an integer; it is replaced by an infinity.
class RoundingNoise final : public Disturbance {
 public:
  /// The runs 2n and 2n + 1 change each number in opposite directions. `graph` contains the nodes that run.
  RoundingNoise(const Graph& graph, std::uint64_t run) : m_graph(graph), m_run(run) {}
  void disturbOperands(const Node& node, std::vector<Tensor>& operands) override;
  void disturbResults(const Node& node, std::vector<Tensor>& results) override;

 private:
  const Graph& m_graph;
  std::uint64_t m_run;
};

}  // namespace fusescope
