#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ui/canvas/level_parts.h"

namespace fusescope {

/// The cover of the network, or of a body that is open, and which items stand for what of it.
struct CanvasLevel {
  /// `of` outlives it. `place`: which level of the CoverParts that it is.
  explicit CanvasLevel(const LevelParts& of, std::size_t place = 0);

  const LevelParts& parts;
  const std::size_t place;
  const Cover& cover = parts.cover;
  const CanvasItems& items = parts.items;
  std::vector<int> itemOfNode;               ///< by node
  std::map<std::uint32_t, int> itemOfInput;  ///< by value
  std::vector<std::pair<ValueId, int>> outputs;
  /// A node whose bodies are open in `box`; `condition`: the pill of what an If asks, or -1.
  struct Holder {
    int box = -1, condition = -1;
    std::vector<const CanvasLevel*> bodies;
    std::vector<const Subgraph*> graphs;
  };
  std::map<std::uint32_t, Holder> holders;  ///< by node

  const Graph& graph() const { return cover.graph(); }

  /// Who reads a value: an item, and the fused node that it stands for or is in.
  struct Use {
    int item;
    FusedNodeId fused;
  };
  /// Each item once, in the order of the graph; none of a constant.
  std::vector<Use> usesOf(ValueId value) const;
  /// The items that a value comes from: one, or the results of bodies that are open.
  std::vector<int> sourcesOf(ValueId value) const;
  /// Whether all that makes and reads a value is drawn as one item: no wire of it is seen.
  bool staysInside(ValueId value) const;
  /// Whether so many readers are told by name on their boxes, all but the first.
  bool isDrawnAsStubs(ValueId value, const std::vector<Use>& uses) const;

 private:
  template <class Take>
  void takersOf(const Node& node, ValueId value, const Take& take) const;
};

/// The edges of a scene: one for all that passes between two items.
class CanvasWires {
 public:
  /// `items` are those of the scene, which get the names of shared inputs. Of edges and names, only those that an item
  /// of at least `first` has part in.
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
