#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ui/canvas/level_parts.h"

namespace fusescope {

class Graph;
struct Node;
struct Subgraph;

/// The cover of the network, or of an open body, and the items that represent its parts.
struct CanvasLevel {
  /// `of` must outlive it. `place` is the index of the level in CoverParts.
  explicit CanvasLevel(const LevelParts& of, std::size_t place = 0);

  const LevelParts& parts;
  const std::size_t place;
  const Cover& cover = parts.cover;
  const CanvasItems& items = parts.items;
  std::vector<int> itemOfNode;               ///< for each node
  std::map<std::uint32_t, int> itemOfInput;  ///< for each value
  std::vector<std::pair<ValueId, int>> outputs;
  /// A node whose bodies are open in the item `box`; `condition` is the item of an If's condition, or -1.
  struct Holder {
    int box = -1, condition = -1;
    std::vector<const CanvasLevel*> bodies;
    std::vector<const Subgraph*> graphs;
  };
  std::map<std::uint32_t, Holder> holders;  ///< for each node

  const Graph& graph() const { return cover.graph(); }

  /// A reader of a value: an item, and the fused node that the item represents or is in.
  struct Use {
    int item;
    FusedNodeId fused;
  };
  /// Returns the readers of a value, each item once, in the order of the graph; empty for a constant.
  std::vector<Use> usesOf(ValueId value) const;
  /// Returns the items that make a value: one, or the results of open bodies.
  std::vector<int> sourcesOf(ValueId value) const;
  /// Returns whether the producer and all readers of a value are in one item, so that no wire is drawn.
  bool staysInside(ValueId value) const;
  /// Returns whether all readers but the first show the value's name on their boxes, because there are so many.
  bool isDrawnAsStubs(ValueId value, const std::vector<Use>& uses) const;

 private:
  template <class Take>
  void takersOf(const Node& node, ValueId value, const Take& take) const;
};

/// Makes the edges of a scene: one for all values between the same two items.
class CanvasWires {
 public:
  /// `items` are those of the scene; names of shared inputs are added to them. Only edges and names of items from
  /// `first` on are made.
  explicit CanvasWires(SharedVector<CanvasItem>& items, int first = 0) : m_items(items), m_first(first) {}

  void reserve(std::size_t edges) { m_edgeOf.reserve(edges); }
  void connect(const CanvasLevel& level);
  void addValue(const CanvasLevel& level, ValueId value, const std::vector<CanvasLevel::Use>& uses);
  void addOutput(const CanvasLevel& level, ValueId value, int item);

  std::vector<CanvasEdge>& edges() { return m_edges; }

 private:
  void add(const CanvasLevel& level, int from, int to, ValueId value, const PlannedCast* cast);

  SharedVector<CanvasItem>& m_items;
  const int m_first;
  std::vector<CanvasEdge> m_edges;
  std::unordered_map<std::uint64_t, int> m_edgeOf;  ///< by the items at its ends
};

}  // namespace fusescope
