#pragma once

#include <QString>
#include <map>
#include <unordered_map>

#include "planning/read_back/read_back_plan.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/canvas/container_kinds.h"
#include "ui/canvas/cover_facts.h"

namespace fusescope {

class Graph;
struct Node;

/// Returns whether a fused node is an If, Loop or Scan whose bodies the cover contains.
bool containsBodies(const Cover& cover, const FusedNode& fused);

/// Makes the items of one cover: of the network, or of a body. They have no place; the caller sets `parent` and
/// `segment`. `path` is the path of the body; names and keys are texts of places.
class CanvasItems {
 public:
  CanvasItems(const Cover& cover, BodyPath path, const CanvasFonts& fonts);

  /// Makes the item of a fused node. `drawn` is the number of its nodes that are drawn in it; if a compiler has a node
  /// in several kernels, the node is drawn in only one of them.
  CanvasItem fused(const FusedNode& fused, const QString& name, const QString& handle, std::size_t drawn) const;
  /// Makes the item of a node. `fused` is the kernel that it is drawn in; null: it has none.
  CanvasItem node(const Node& node, const QString& name, const FusedNode* fused) const;
  /// Makes the item of an input or output of the network or body, in its declared type; casts are on the edge. `note`
  /// says what it is.
  CanvasItem pill(ValueId value, ItemKind kind, const QString& note) const;
  CanvasItem body(const CoverBody& body) const;
  /// Sets the size of an item. Containers have no size before that, because it depends on whether they are open.
  void size(CanvasItem& item) const;

  /// Returns the type of a value, and says so if it exists only in registers and is never stored.
  QString typeText(ValueId value) const;
  /// Returns the conversion of `value` for a fused node, or for an output of the network (an invalid id); null if there
  /// is none.
  const PlannedCast* castTo(ValueId value, FusedNodeId reader) const;
  /// Adds room for one more shared input whose name is written on a box instead of drawing an edge.
  void addStub(CanvasItem& reader, ValueId value) const;

  QString nameOf(const std::string& name) const { return QString::fromStdString(m_path.of(name)); }
  QString handleOf(const FusedNode& fused) const;
  const BodyPath& path() const { return m_path; }
  const CoverFacts& facts() const { return m_facts; }

 private:
  /// Returns the type of a value in memory; Undefined if the compiler does not report it.
  DataType storedType(ValueId value) const;
  const QString& storedText(ValueId value) const;
  /// Returns one string for all equal texts.
  const QString& shared(const std::string& text) const;
  QString titleOf(const FusedNode& fused) const;
  void setTypes();
  int constantsOf(const Node& node) const;
  void sizeBox(CanvasItem& item) const;

  const Cover& m_cover;
  CoverFacts m_facts;
  const ReadBackPlan* m_made;  ///< m_cover if another compiler made it, otherwise null
  const Graph& m_graph;
  BodyPath m_path;
  const CanvasFonts& m_fonts;
  enum class Inner : std::uint8_t { No, Held, HeldWider };
  std::vector<DataType> m_stored;  ///< by value; Undefined if the type is that of the graph, or is not reported
  std::vector<Inner> m_inner;      ///< by value: whether it exists only in registers
  mutable std::vector<QString> m_storedTexts;  ///< by value
  mutable std::unordered_map<std::string, QString> m_shared;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const PlannedCast*> m_castOf;  ///< by value and reader
  std::map<std::uint32_t, const PlannedCast*> m_castOfOutput;
};

}  // namespace fusescope
