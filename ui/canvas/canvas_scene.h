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

enum class Certainty;  // planning/read_back/read_back_plan.h

/// The kinds of items that the canvas paints. Items are values, which are built off the GUI thread and const after
/// that; none of them refers to a Cover.
enum class ItemKind { Container, Node, Input, Output };
struct ContainerKind;
class CoverParts;

/// The kernels of a cover, by their index.
struct CanvasKernels {
  std::vector<QString> handles;
  std::vector<ShownTime> untimed;  ///< the time of each kernel if no run measured it
};

/// Facts about a block in addition to its text.
struct BlockFacts {
  std::shared_ptr<const CanvasKernels> of;  ///< the kernels of its cover
  std::vector<int> kernels;                 ///< indices of the kernels in it
  int copies = 0;                           ///< copies of a run; 0: it is not a run
  int unlike = 0;                           ///< number of copies that differ from the first
  QString note;                             ///< lines that say how a copy differs from the first, or which copies do
};

struct CanvasItem {
  ItemKind kind = ItemKind::Container;
  const ContainerKind* container = nullptr;  ///< its kind; null for nodes, inputs and outputs
  QString key;                               ///< unique in a scene, and the same for the same thing in the next scene
  QString name;                              ///< in the network; for people
  QString title, detail, meta;  ///< lines of the box, already shortened; a container shows title and detail
  QStringList stubs;            ///< names of shared inputs that are not drawn as edges
  DataType precision = DataType::Undefined;  ///< the type in which its main operator calculates
  ItemFacts facts;
  bool prediction = false;  ///< the target's compiler decides whether the nodes are fused
  /// The certainty that another compiler's kernel contains its nodes, or for a node, this node: the lowest one. For a
  /// block it is the lowest of its kernels. Nothing for our own plan and our own kernels, which are exact.
  std::optional<Certainty> certainty;
  QString fate;      ///< the fate of a node without a kernel, "folded"; empty: it has one
  QString kindName;  ///< kind of the fused node
  int segment = -1;
  bool fallback = false;
  ShownTime untimed;  ///< its time if no run measured it
  int nodes = 0;      ///< number of nodes that it represents
  int constants = 0;  ///< number of weights that they read
  int parent = -1;    ///< index of the container; containers come before their content
  bool open = false;  ///< for a container
  bool canOpen = false;
  int edgesIn = 0, edgesOut = 0;
  QString timeKey;                          ///< handle of the fused node whose time it shows; empty: none
  std::shared_ptr<const BlockFacts> block;  ///< for a block, whose time is that of its kernels; otherwise null
  QSizeF size;                              ///< size of a box; for a container only the width of its header
  bool isBox() const { return !open; }
  bool calculates() const;   ///< has a precision; false for containers that only contain such items
  bool isUncertain() const;  ///< a node in it is derived or guessed, because its compiler names none of it
  bool isGuessed() const;    ///< a node in it is guessed
  bool isOpenBlock() const { return block != nullptr && open; }
  /// Returns the name for selections: the handle of a fused node, otherwise its name.
  const QString& handle() const;
};

/// A container, whether it is drawn or is inside a closed one.
struct Openable {
  const ContainerKind* kind = nullptr;
  QString within;       ///< handle of the next surrounding container that can be opened; empty: none
  bool canOpen = true;  ///< false: it is always one box
};

struct CanvasEdge {
  int from = 0, to = 0;
  QString label;     ///< type of its first value
  QString tooltip;   ///< all values and casts
  QString cast;      ///< "f32→f16" if there is a cast on it
  QString castCost;  ///< time of the cast, "≈ 12 µs", or its bytes if the time is unknown; empty: both are unknown
};

/// The curves of edges. Each is a cubic chain: points 0, 3, 6, … are on the curve, and the two between them are control
/// points.
class CanvasCurves {
 public:
  using Points = std::span<const QPointF>;

  void add(Points points);
  Points of(int edge) const {
    const std::size_t begin = edge == 0 ? 0 : m_ends[std::size_t(edge) - 1];
    return Points(m_points).subspan(begin, m_ends[std::size_t(edge)] - begin);
  }
  /// Returns the bounding rectangle of the points of an edge.
  QRectF boundsOf(int edge) const;
  std::size_t size() const { return m_ends.size(); }
  void reserve(std::size_t edges, std::size_t points);
  std::size_t pointCount() const { return m_points.size(); }

 private:
  std::vector<QPointF> m_points;
  std::vector<std::uint32_t> m_ends;  ///< by edge: the index behind its last point
};

/// The items that represent the parts of the network or of a body, whatever is drawn of it.
struct LevelItems {
  int closedIn = -1;         ///< for a body that is not drawn: the item that represents all of it
  bool isDrawn = false;      ///< otherwise the following vectors are empty
  std::vector<int> ofNode;   ///< for each node
  std::vector<int> ofFused;  ///< for each fused node
  std::vector<int> ofBlock;  ///< for each block
  std::vector<int> ofPill;   ///< for each input, then each output
};

/// What the canvas paints. Its contents are shared with other scenes of the cover (CoverParts) and with those that
/// differ only a little (openedScene()); the positions are its own.
struct CanvasScene {
  SharedVector<CanvasItem> items;
  SharedVector<CanvasEdge> edges;
  std::shared_ptr<const CoverParts> parts;  ///< what names refer to; null: nothing is drawn
  std::vector<LevelItems> levels;           ///< for each level of `parts`
  QHash<QString, int> byKey;                ///< items that are not nodes, fused nodes or blocks
  QHash<QString, int> byName;               ///< items of segments and bodies

  // Set by the layout.
  std::vector<QRectF> rects;  ///< for each item
  CanvasCurves curves;        ///< for each edge
  SpatialIndex itemIndex, edgeIndex;
  QRectF bounds;
  QString engine;
  int boxes = 0;
  double proportion = 0;  ///< width to height of the canvas that it was laid out for; 0: none
  std::map<int, std::vector<PlacedColumn>> columns;  ///< columns of wrapped levels, by open item; -1: the top level

  /// Returns the item for a name or key.
  int itemOf(const QString& name) const;
  /// Returns the item with this key; for something inside a closed item, that item. -1: there is none.
  int itemOfKey(const QString& key) const;
  /// Returns the entries that a search finds: blocks, nodes, inputs and outputs whose text contains `text`, ignoring
  /// case.
  std::vector<int> matching(const QString& text) const;
  /// Return the item that represents a found entry, and its name.
  int itemOfEntry(int entry) const;
  QString nameOfEntry(int entry) const;
  /// Returns the innermost item at `point`; boxes are found before containers. -1: none.
  int itemAt(const QPointF& point) const;
  /// Returns the nearest edge within `reach`, or -1.
  int edgeAt(const QPointF& point, double reach) const;
  bool isInside(int item, int container) const;  ///< also true for `item` itself
  /// Returns the container with this handle, whether it is drawn or not, if no surrounding body is closed; nothing if
  /// there is none.
  std::optional<Openable> container(const QString& handle) const;
  /// Returns it only if it can be opened.
  std::optional<Openable> findOpenable(const QString& handle) const;
  /// Returns the handles of all containers that can be opened.
  QStringList openable() const;
  /// Returns the handles of containers that can be opened inside the container with this handle.
  QStringList openableInside(const QString& handle) const;
  /// Returns the handle of the container that shows more of what `name` refers to: the fused node that contains it, or
  /// that contains its body; `name` itself if it is in none.
  QString containerOf(const QString& name) const;
  /// Indexes things by place, after `rects` and `curves` were set. `before` is a scene whose items and edges are the
  /// first of this one, at nearly the same places.
  void indexPlaces(const CanvasScene* before = nullptr);
};

LayoutGraph layoutGraphOf(const CanvasScene& scene);
/// Returns the frame of an open item for the layout; `parent` is the index of a container.
LayoutContainer containerOf(const CanvasItem& item, int parent);
/// Returns a scene in the form that the layout of the next one uses. It must not outlive the scene.
EarlierPicture pictureOf(const CanvasScene& scene);
/// Sets rectangles and curves. The geometry must be for this scene's layout graph (sizes are checked).
Result<Done> applyGeometry(CanvasScene& scene, const LayoutGeometry& geometry);

}  // namespace fusescope
