#pragma once

#include <QHash>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "layout/layout.h"
#include "ui/canvas/item_facts.h"
#include "ui/canvas/shared_vector.h"
#include "ui/canvas/spatial_index.h"
#include "ui/document/shown_time.h"

namespace fusescope {

enum class Certainty;  // planning/read_back_plan.h

/// What the canvas paints: values, built off the GUI thread and const once delivered. Nothing here holds a Cover.
enum class ItemKind { Container, Node, Input, Output };
struct ContainerKind;
class CoverParts;

/// The kernels of a cover, by their index.
struct CanvasKernels {
  std::vector<QString> handles;
  std::vector<ShownTime> untimed;  ///< the time of each where no run measured it
};

/// What a block says beside its lines.
struct BlockFacts {
  std::shared_ptr<const CanvasKernels> of;  ///< all of its cover
  std::vector<int> kernels;                 ///< those in it
  int copies = 0;                           ///< of a run; 0: it is none
  int unlike = 0;                           ///< of the copies, those that differ from the first
  QString note;                             ///< lines: how a copy differs from the first, or which copies do
};

struct CanvasItem {
  ItemKind kind = ItemKind::Container;
  const ContainerKind* container = nullptr;  ///< of what kind; null of nodes, inputs and outputs
  QString key;                               ///< unique in a scene, equal for the same thing in the next one
  QString name;                              ///< in the network; for people
  QString title, detail, meta;  ///< lines of the box, already short enough; a container shows title and detail
  QStringList stubs;            ///< names of shared inputs that are not drawn as edges
  DataType precision = DataType::Undefined;  ///< that its main operator calculates in
  ItemFacts facts;
  bool prediction = false;  ///< a fusion that the target's own compiler decides on
  /// How it is known that another compiler's kernel holds its nodes: of them the one that is known least. Of a node: of
  /// it. None: our own plan, which says it.
  std::optional<Certainty> certainty;
  QString fate;      ///< of a node without a kernel, what became of it: "folded"; empty: it has one
  QString kindName;  ///< of the fused node
  int segment = -1;
  bool fallback = false;
  ShownTime untimed;  ///< its time where no run measured it
  int nodes = 0;      ///< that it stands for
  int constants = 0;  ///< weights that they read
  int parent = -1;    ///< index of the container; parents come before what they hold
  bool open = false;  ///< a container
  bool canOpen = false;
  int edgesIn = 0, edgesOut = 0;
  QString timeKey;                          ///< handle of the fused node whose time it shows; empty: none
  std::shared_ptr<const BlockFacts> block;  ///< of a block, whose time is that of its kernels; else null
  QSizeF size;                              ///< of a box; of a container the width of its header
  bool isBox() const { return !open; }
  bool calculates() const;   ///< has a precision: it is no container that only holds what has
  bool isUncertain() const;  ///< nothing that its compiler says names one of its nodes: derived or guessed
  bool isGuessed() const;    ///< nothing that its compiler says tells that it holds one of its nodes
  /// What it is called in selections: the handle of a fused node, else its name.
  const QString& handle() const;
};

/// A container, whether it is drawn or is in one that is closed.
struct Openable {
  const ContainerKind* kind = nullptr;
  QString within;       ///< handle of the next one around it that can be opened; empty: none
  bool canOpen = true;  ///< else it is always one box
};

struct CanvasEdge {
  int from = 0, to = 0;
  QString label;     ///< type of its first value
  QString tooltip;   ///< all values, and its casts
  QString cast;      ///< "f32→f16" if a cast stands on it
  QString castCost;  ///< what the cast takes: "≈ 12 µs", or its bytes where no time is known; empty: neither is
};

/// Where edges run: each a cubic chain (points 0, 3, 6, … lie on it, the two between are controls).
class CanvasCurves {
 public:
  using Points = std::span<const QPointF>;

  void add(Points points);
  Points of(int edge) const {
    const std::size_t begin = edge == 0 ? 0 : m_ends[std::size_t(edge) - 1];
    return Points(m_points).subspan(begin, m_ends[std::size_t(edge)] - begin);
  }
  /// Round the points of an edge.
  QRectF boundsOf(int edge) const;
  std::size_t size() const { return m_ends.size(); }
  void reserve(std::size_t edges, std::size_t points);
  std::size_t pointCount() const { return m_points.size(); }

 private:
  std::vector<QPointF> m_points;
  std::vector<std::uint32_t> m_ends;  ///< by edge: behind its last point
};

/// Which items stand for what of the network, or of a body, whatever is drawn of it.
struct LevelItems {
  int closedIn = -1;         ///< of a body that is not drawn: the item that stands for all of it
  bool isDrawn = false;      ///< else what follows is empty
  std::vector<int> ofNode;   ///< by node
  std::vector<int> ofFused;  ///< by fused node
  std::vector<int> ofBlock;  ///< by block
  std::vector<int> ofPill;   ///< inputs, then outputs
};

/// What it is made of is shared with other scenes of the cover (CoverParts) and with those that differ in little
/// (openedScene()); where things are is its own.
struct CanvasScene {
  SharedVector<CanvasItem> items;
  SharedVector<CanvasEdge> edges;
  std::shared_ptr<const CoverParts> parts;  ///< what names stand for; null: nothing is drawn
  std::vector<LevelItems> levels;           ///< by level of `parts`
  QHash<QString, int> byKey;                ///< items that are no nodes, fused nodes or blocks
  QHash<QString, int> byName;               ///< segments and bodies: the items that stand for them

  // After layout.
  std::vector<QRectF> rects;  ///< by item
  CanvasCurves curves;        ///< by edge
  SpatialIndex itemIndex, edgeIndex;
  QRectF bounds;
  QString engine;
  int boxes = 0;
  double proportion = 0;  ///< of the canvas that it was laid out for, width to height; 0: for none
  std::map<int, std::vector<PlacedColumn>> columns;  ///< of what is wrapped: by open item, -1: the top

  /// `name`, or the key of the item.
  int itemOf(const QString& name) const;
  /// The item of this key; of what is in something that is closed the item of that. -1: there is none.
  int itemOfKey(const QString& key) const;
  /// What a search finds: blocks, nodes, inputs and outputs whose text contains `text`; case does not matter.
  std::vector<int> matching(const QString& text) const;
  /// Of what a search found: the item that stands for it, and its name.
  int itemOfEntry(int entry) const;
  QString nameOfEntry(int entry) const;
  /// The innermost item at `point`: boxes before containers. -1: none.
  int itemAt(const QPointF& point) const;
  /// The nearest edge within `reach`, or -1.
  int edgeAt(const QPointF& point, double reach) const;
  bool isInside(int item, int container) const;  ///< `item` itself counts
  /// The container of this handle, be it drawn or not, as long as no body around it is closed; nothing: there is none.
  std::optional<Openable> container(const QString& handle) const;
  /// The same where it can be opened.
  std::optional<Openable> findOpenable(const QString& handle) const;
  /// Handles of all of them that can be opened.
  QStringList openable() const;
  /// Handles of what can be opened in the container of this handle.
  QStringList openableInside(const QString& handle) const;
  /// The handle of the container that shows more of what `name` stands for: the fused node that holds it, or that holds
  /// the body that it is in; `name` itself where that is none of one.
  QString containerOf(const QString& name) const;
  /// Finds things by place from here on: as `rects` and `curves` are. `before`: of a scene whose items and edges are
  /// the first of this one, at nearly the same places.
  void indexPlaces(const CanvasScene* before = nullptr);
};

LayoutGraph layoutGraphOf(const CanvasScene& scene);
/// How an open item frames what it holds; `parent`: index of a container.
LayoutContainer containerOf(const CanvasItem& item, int parent);
/// A scene as what the next one comes of, which must not outlive it.
EarlierPicture pictureOf(const CanvasScene& scene);
/// Takes rectangles and curves over; the geometry must be of this scene's layout graph (sizes are checked).
Result<Done> applyGeometry(CanvasScene& scene, const LayoutGeometry& geometry);

}  // namespace fusescope
