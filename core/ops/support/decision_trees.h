#pragma once

#include "ops/support/class_scores.h"

namespace fusescope::ops {

/// What a node of a decision tree asks of its feature.
enum class TreeTest { AtMost, Below, AtLeast, Above, Equal, Unequal, Member, Leaf };

/// A node of a decision tree: a test and where it leads, or a leaf with what it adds.
struct TreeNode {
  TreeTest test = TreeTest::Leaf;
  std::size_t feature = 0;
  double split = 0;
  bool trueIfNaN = false;
  std::size_t whenTrue = 0, whenFalse = 0;              ///< places among the nodes
  std::vector<double> members;                          ///< of a test for membership
  std::vector<std::pair<std::size_t, double>> weights;  ///< of a leaf: target and what is added to it
};

/// Decision trees whose leaves' weights are joined by target.
class DecisionTrees {
 public:
  enum class Joined { Sum, Average, Min, Max };
  /// `targets`: how many there are. An error if a node leads nowhere or in a circle, or a
  /// leaf writes to no target.
  static Result<DecisionTrees> create(std::vector<TreeNode> nodes, std::vector<std::size_t> roots, std::size_t targets,
                                      Joined joined);

  /// The joined weights of each target for a row of features; nothing for one that no leaf wrote to.
  std::vector<std::optional<double>> targetsOf(std::span<const double> row) const;
  const std::vector<TreeNode>& nodes() const { return m_nodes; }
  /// One more than the largest feature that is asked for.
  std::size_t features() const;

 private:
  const TreeNode& leafOf(std::size_t root, std::span<const double> row) const;

  std::vector<TreeNode> m_nodes;
  std::vector<std::size_t> m_roots;
  std::size_t m_targets = 0;
  Joined m_joined = Joined::Sum;
};

/// An error where rows have too few features for the trees.
Status checkFeatures(const DecisionTrees& trees, const Shape& shape);

}  // namespace fusescope::ops
