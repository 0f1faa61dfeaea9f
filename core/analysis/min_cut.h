#pragma once

#include <cstddef>
#include <vector>

namespace fusescope {

/// Gives each of n items one of two labels at the lowest cost. Each label of an item has a cost, and two items with
/// different labels may have one. The result is exact, by a minimum cut (Kolmogorov and Zabih, "What Energy Functions
/// Can Be Minimized via Graph Cuts?", 2004; the flow by Dinic's algorithm). Costs must not be negative; an infinite
/// cost forbids a label.
class MinCut {
 public:
  std::size_t add();  ///< adds an item and returns its index
  /// Adds costs to the labels 0 and 1 of `thing`.
  void addCosts(std::size_t thing, double zero, double one);
  /// Adds a cost that applies if `first` has the label 0 and `second` the label 1.
  void addCost(std::size_t first, std::size_t second, double cost);
  /// Returns the labels by item. If both labels have the same cost, the result is 0.
  std::vector<char> solve();

 private:
  struct Edge {
    std::size_t to;
    double left;  ///< remaining capacity
  };
  void connect(std::size_t from, std::size_t to, double capacity);
  bool findLevels();
  double push(std::size_t at, double flow);

  /// Items on the side of the sink have the label 0, those on the side of the source the label 1.
  static constexpr std::size_t kSource = 0, kSink = 1;
  std::vector<Edge> m_edges;                        ///< in pairs: an edge and its reverse
  std::vector<std::vector<std::size_t>> m_from{2};  ///< indices of edges
  std::vector<int> m_level;
  std::vector<std::size_t> m_next;
};

}  // namespace fusescope
