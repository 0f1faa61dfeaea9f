#pragma once

#include "ops/support/class_scores.h"

namespace fusescope::ops {

/// How a node of a decision tree compares its feature with its split value; Leaf compares nothing.
enum class TreeTest { AtMost, Below, AtLeast, Above, Equal, Unequal, Member, Leaf };

/// A node of a decision tree: a test with its two successors, or a leaf with its weights.
struct TreeNode {
  TreeTest test = TreeTest::Leaf;
  std::size_t feature = 0;
  double split = 0;
  bool trueIfNaN = false;
  std::size_t whenTrue = 0, whenFalse = 0;              ///< indices of nodes
  std::vector<double> members;                          ///< the values of a test for membership
  std::vector<std::pair<std::size_t, double>> weights;  ///< of a leaf: targets, and what is added to each
};

/// Decision trees. The weights of the leaves that a row reaches are combined for each target.
class DecisionTrees {
 public:
  enum class Joined { Sum, Average, Min, Max };
  /// `targets` is their number. It is an error if a successor does not exist, if nodes form a cycle, or if a leaf
  /// writes to a target that does not exist.
  static Result<DecisionTrees> create(std::vector<TreeNode> nodes, std::vector<std::size_t> roots, std::size_t targets,
                                      Joined joined);

  /// Returns the combined weight of each target for a row of features; nothing for a target that no leaf wrote to.
  std::vector<std::optional<double>> targetsOf(std::span<const double> row) const;
  const std::vector<TreeNode>& nodes() const { return m_nodes; }
  /// Returns the largest feature index that is used, plus one.
  std::size_t features() const;

 private:
  const TreeNode& leafOf(std::size_t root, std::span<const double> row) const;

  std::vector<TreeNode> m_nodes;
  std::vector<std::size_t> m_roots;
  std::size_t m_targets = 0;
  Joined m_joined = Joined::Sum;
};

/// Checks that rows have enough features for the trees.
Status checkFeatures(const DecisionTrees& trees, const Shape& shape);

}  // namespace fusescope::ops
