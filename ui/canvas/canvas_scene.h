#pragma once

#include <QHash>
#include <QPointF>
#include <QRectF>
#include <QSet>
#include <QString>
#include <QStringList>
#include <QVector>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "layout/layout.h"
#include "ui/canvas/spatial_index.h"

namespace fusescope {

/// What the canvas paints: values, built off the GUI thread and const once delivered. Nothing here knows a Plan.
enum class ItemKind { Segment, Fused, Body, Node, Input, Output };

struct CanvasItem {
  ItemKind kind = ItemKind::Fused;
  QString key;                  ///< unique in a scene, equal for the same thing in the next one
  QString name;                 ///< in the plan; for people
  QString title, detail, meta;  ///< lines of the box, already short enough; a container shows title and detail
  QStringList stubs;            ///< names of shared inputs that are not drawn as edges
  DataType precision = DataType::Undefined;
  bool mixedPrecision = false;
  QStringList types;        ///< that a fused node calculates in; several where it mixes them
  bool prediction = false;  ///< a fusion that the target's own compiler decides on
  QString kindName;         ///< of the fused node
  int segment = -1;
  bool fallback = false;
  std::optional<double> predictedMs;
  bool predictedByFit = false;  ///< not measured itself
  int nodes = 0;                ///< that it stands for
  int constants = 0;            ///< weights that they read
  int parent = -1;              ///< index of the container; parents come before what they hold
  bool open = false;            ///< a container
  bool canOpen = false;
  int edgesIn = 0, edgesOut = 0;
  QString timeKey;  ///< handle of the fused node whose time it shows; empty: none
  QSizeF size;      ///< of a box; of a container the width of its header
  QRectF rect;      ///< after layout
  bool isBox() const { return !open; }
  /// Holds fused nodes and says so in one line: a segment, or a body of an If, Loop or Scan.
  bool isPart() const { return kind == ItemKind::Segment || kind == ItemKind::Body; }
  /// What it is called in selections: the handle of a fused node, else its name.
  const QString& handle() const { return kind == ItemKind::Fused ? key : name; }
};

struct CanvasEdge {
  int from = 0, to = 0;
  QString label;                ///< type of its first value
  QString tooltip;              ///< all values, and its casts
  QString cast;                 ///< "f32→f16" if a cast stands on it
  std::vector<QPointF> points;  ///< cubic chain
  QRectF bounds;
};

/// A node, an input or an output of the network and the item that stands for it.
struct CanvasEntry {
  QString name;
  int item = -1;
  std::size_t textBegin = 0, textEnd = 0;  ///< in CanvasScene::searchText
};

struct CanvasScene {
  std::vector<CanvasItem> items;
  std::vector<CanvasEdge> edges;
  std::vector<CanvasEntry> entries;
  std::string searchText;  ///< lower case: all that a search looks at, entry by entry
  QHash<QString, int> byKey;
  QHash<QString, int> byName;  ///< of nodes, fused nodes, segments, inputs and outputs: the item that stands for it
  QHash<QString, QString> fusedOf;    ///< name of a node or fused node, or handle -> handle of the fused node
  QSet<QString> openable;             ///< handles of fused nodes of several nodes
  SpatialIndex itemIndex, edgeIndex;  ///< of rectangles and bounds, after layout
  QRectF bounds;
  QString engine;
  int boxes = 0;
  double slowestPredictedMs = 0;

  /// `name`, or the key of the item.
  int itemOf(const QString& name) const { return byKey.value(name, byName.value(name, -1)); }
  /// The entries whose text contains `text`; case does not matter.
  std::vector<int> matching(const QString& text) const;
  /// The innermost item at `point`: boxes before containers. -1: none.
  int itemAt(const QPointF& point) const;
  /// The nearest edge within `reach`, or -1.
  int edgeAt(const QPointF& point, double reach) const;
  bool isInside(int item, int container) const;  ///< `item` itself counts
};

LayoutGraph layoutGraphOf(const CanvasScene& scene);
/// Takes rectangles and curves over; the geometry must be of this scene's layout graph (sizes are checked).
Result<Done> applyGeometry(CanvasScene& scene, const LayoutGeometry& geometry);

}  // namespace fusescope
