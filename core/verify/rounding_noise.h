#pragma once

#include <cstdint>

#include "backends/reference/reference_nodes.h"

namespace fusescope {

/// What a sum in float32 may be off by, of the rms of all sums of its tensor; and what is divided by one, of itself.
inline constexpr double kOfSum = 1e-5;

/// One of the many ways in which a right kernel may round. Kernels add up in another order, contract a product and a
/// sum, or approximate a function: each number that a node calculates may be off by a little. RoundingNoise puts every
/// such number off by as much as that may be, up or down, and what follows from it in the region (a rounding
/// that turns, another whole number, another branch) follows by itself. What is picked, moved or compared is exact.
/// NaN has no value as an integer: in its place stands an infinity.
class RoundingNoise final : public Disturbance {
 public:
  /// The runs 2n and 2n + 1 put each number off to opposite sides. `graph` holds the nodes that run.
  RoundingNoise(const Graph& graph, std::uint64_t run) : m_graph(graph), m_run(run) {}
  void disturbOperands(const Node& node, std::vector<Tensor>& operands) override;
  void disturbResults(const Node& node, std::vector<Tensor>& results) override;

 private:
  const Graph& m_graph;
  std::uint64_t m_run;
};

}  // namespace fusescope
