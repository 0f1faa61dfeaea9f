#include "ops/support/decision_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fusescope::ops {
namespace {

bool holds(const TreeNode& node, double x) {
  switch (node.test) {
    case TreeTest::AtMost:
      return x <= node.split;
    case TreeTest::Below:
      return x < node.split;
    case TreeTest::AtLeast:
      return x >= node.split;
    case TreeTest::Above:
      return x > node.split;
    case TreeTest::Equal:
      return x == node.split;
    case TreeTest::Unequal:
      return x != node.split;
    default:
      return std::ranges::find(node.members, x) != node.members.end();
  }
}

/// Returns whether a path from `root` leads back to a node on this path. `done` are the nodes that have been checked
/// before.
bool hasCircle(const std::vector<TreeNode>& nodes, std::size_t root, std::vector<bool>& done) {
  std::vector<bool> onTheWay(nodes.size(), false);
  // The nodes of the path, each with the number of its two successors that were visited.
  std::vector<std::pair<std::size_t, int>> way{{root, 0}};
  while (!way.empty()) {
    auto& [at, taken] = way.back();
    if (taken == 0) onTheWay[at] = true;
    if (nodes[at].test == TreeTest::Leaf || taken == 2 || done[at]) {
      onTheWay[at] = false;
      done[at] = true;
      way.pop_back();
      continue;
    }
    const std::size_t next = taken++ == 0 ? nodes[at].whenTrue : nodes[at].whenFalse;
    if (onTheWay[next]) return true;
    way.emplace_back(next, 0);
  }
  return false;
}

}  // namespace

Result<DecisionTrees> DecisionTrees::create(std::vector<TreeNode> nodes, std::vector<std::size_t> roots,
                                            std::size_t targets, Joined joined) {
  for (const TreeNode& node : nodes) {
    if (node.test != TreeTest::Leaf && std::max(node.whenTrue, node.whenFalse) >= nodes.size())
      return problem("the successor of a node of a tree does not exist");
    for (const auto& [target, weight] : node.weights)
      if (target >= targets)
        return problem(fmt::format("a leaf adds to target {}, but the node has {} targets", target, targets));
  }
  if (roots.empty()) return problem("the node has no trees");
  if (std::ranges::max(roots) >= nodes.size()) return problem("the root of a tree does not exist");
  std::vector<bool> done(nodes.size(), false);
  for (const std::size_t root : roots)
    if (hasCircle(nodes, root, done)) return problem("a tree contains a cycle");
  DecisionTrees trees;
  trees.m_nodes = std::move(nodes);
  trees.m_roots = std::move(roots);
  trees.m_targets = targets;
  trees.m_joined = joined;
  return trees;
}

std::size_t DecisionTrees::features() const {
  std::size_t most = 0;
  for (const TreeNode& node : m_nodes)
    if (node.test != TreeTest::Leaf) most = std::max(most, node.feature + 1);
  return most;
}

const TreeNode& DecisionTrees::leafOf(std::size_t root, std::span<const double> row) const {
  std::size_t at = root;
  while (m_nodes[at].test != TreeTest::Leaf) {
    const TreeNode& node = m_nodes[at];
    const double x = row[node.feature];
    at = holds(node, x) || (node.trueIfNaN && std::isnan(x)) ? node.whenTrue : node.whenFalse;
  }
  return m_nodes[at];
}

std::vector<std::optional<double>> DecisionTrees::targetsOf(std::span<const double> row) const {
  std::vector<std::optional<double>> targets(m_targets);
  for (const std::size_t root : m_roots) {
    for (const auto& [target, weight] : leafOf(root, row).weights) {
      auto& joined = targets[target];
      if (!joined)
        joined = weight;
      else if (m_joined == Joined::Min || m_joined == Joined::Max)
        joined = m_joined == Joined::Min ? std::min(*joined, weight) : std::max(*joined, weight);
      else
        joined = *joined + weight;
    }
  }
  if (m_joined == Joined::Average)
    for (auto& target : targets)
      if (target) *target /= static_cast<double>(m_roots.size());
  return targets;
}

Status checkFeatures(const DecisionTrees& trees, const Shape& shape) {
  const Dim features = featureCount(shape);
  const auto wanted = static_cast<std::int64_t>(trees.features());
  if (!features.known() || features.size >= wanted) return Done{};
  return problem(fmt::format("rows have {} features, but the trees ask for {}", features.size, wanted));
}

}  // namespace fusescope::ops
