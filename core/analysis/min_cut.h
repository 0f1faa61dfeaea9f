#pragma once

#include <cstddef>
#include <vector>

namespace fusescope {

/// The cheapest way to give each of n things one of two labels, where each label has a cost and two things with
/// different labels may have one: exact, by a minimum cut (Kolmogorov and Zabih, "What Energy Functions Can Be
/// Minimized via Graph Cuts?", 2004; the flow by Dinic's algorithm). Costs are not negative; infinite ones forbid.
class MinCut {
 public:
  std::size_t add();  ///< one more thing; its index
  /// What it costs that `thing` has the label 0, or 1.
  void addCosts(std::size_t thing, double zero, double one);
  /// What it costs that `first` has the label 0 while `second` has the label 1.
  void addCost(std::size_t first, std::size_t second, double cost);
  /// Labels by thing; where it makes no difference, 0.
  std::vector<char> solve();

 private:
  struct Edge {
    std::size_t to;
    double left;  ///< capacity
  };
  void connect(std::size_t from, std::size_t to, double capacity);
  bool findLevels();
  double push(std::size_t at, double flow);

  static constexpr std::size_t kSource = 0, kSink = 1;  ///< label 0 stays with the sink, label 1 with the source
  std::vector<Edge> m_edges;                            ///< in pairs: an edge and its reverse
  std::vector<std::vector<std::size_t>> m_from{2};      ///< indices of edges
  std::vector<int> m_level;
  std::vector<std::size_t> m_next;
};

}  // namespace fusescope
