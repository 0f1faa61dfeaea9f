#pragma once

#include <QString>
#include <map>
#include <unordered_map>

#include "planning/read_back_plan.h"
#include "ui/canvas/canvas_metrics.h"
#include "ui/canvas/canvas_scene.h"
#include "ui/canvas/container_kinds.h"
#include "ui/canvas/cover_facts.h"

namespace fusescope {

/// Whether a fused node is an If, Loop or Scan whose bodies the cover holds.
bool holdsBodies(const Cover& cover, const FusedNode& fused);

/// The items of one cover: of the network, or of a body. They have no place; `parent` and `segment` are the
/// caller's. `path`: the body that it is of; names and keys are texts of places.
class CanvasItems {
 public:
  CanvasItems(const Cover& cover, BodyPath path, const CanvasFonts& fonts);

  /// `drawn`: how many of its nodes are drawn in it; others of a compiler that tells of a node in several kernels are
  /// drawn elsewhere.
  CanvasItem fused(const FusedNode& fused, const QString& name, const QString& handle, std::size_t drawn) const;
  /// `fused`: the kernel that it is drawn in; null: it has none.
  CanvasItem node(const Node& node, const QString& name, const FusedNode* fused) const;
  /// An input or output of the network or body, at its declared type: casts stand at the edge. `note`: what it is.
  CanvasItem pill(ValueId value, ItemKind kind, const QString& note) const;
  CanvasItem body(const CoverBody& body) const;
  /// Containers have none before: it depends on whether they are open.
  void size(CanvasItem& item) const;

  /// The type of a value, and that it lives in registers and is never stored.
  QString typeText(ValueId value) const;
  /// The conversion of `value` for a fused node, or for the network's output (invalid); null if there is none.
  const PlannedCast* castTo(ValueId value, FusedNodeId reader) const;
  /// Room for one more shared input that is named on a box and not drawn as an edge.
  void addStub(CanvasItem& reader, ValueId value) const;

  QString nameOf(const std::string& name) const { return QString::fromStdString(m_path.of(name)); }
  QString handleOf(const FusedNode& fused) const;
  const BodyPath& path() const { return m_path; }
  const CoverFacts& facts() const { return m_facts; }

 private:
  /// As it stands in memory; undefined where a compiler does not tell it.
  DataType storedType(ValueId value) const;
  const QString& storedText(ValueId value) const;
  /// One string for all that say the same.
  const QString& shared(const std::string& text) const;
  QString titleOf(const FusedNode& fused) const;
  void setTypes();
  int constantsOf(const Node& node) const;
  void sizeBox(CanvasItem& item) const;

  const Cover& m_cover;
  CoverFacts m_facts;
  const ReadBackPlan* m_made;  ///< m_cover, if another compiler made it; else null
  const Graph& m_graph;
  BodyPath m_path;
  const CanvasFonts& m_fonts;
  enum class Inner : std::uint8_t { No, Held, HeldWider };
  std::vector<DataType> m_stored;              ///< by value; undefined: as in the graph, or not told
  std::vector<Inner> m_inner;                  ///< by value: in registers
  mutable std::vector<QString> m_storedTexts;  ///< by value
  mutable std::unordered_map<std::string, QString> m_shared;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const PlannedCast*> m_castOf;  ///< (value, reader)
  std::map<std::uint32_t, const PlannedCast*> m_castOfOutput;
};

}  // namespace fusescope
