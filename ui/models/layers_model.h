#pragma once

#include <QAbstractTableModel>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_time.h"
#include "ui/models/layer_filter.h"
#include "ui/models/roles.h"

namespace fusescope {

/// What a person picks for a node: a type with its strictness, or none.
struct PinChoice {
  DataType type = DataType::Undefined;
  Strictness strictness = Strictness::Prefer;
  QString text() const;
};

/// One row per node of the graph. Sorted and filtered here, over plain values: thousands of rows in milliseconds.
class LayersModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kNode, kOp, kFused, kSegment, kCompute, kStored, kPin, kFlops, kBytes, kTime, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot);
  /// Times of a run; where it has none, what was predicted is shown. `unknown` says why the run has none at all.
  void setTimes(ShownTimes times, const QString& unknown);
  void setFilter(const LayerFilter& filter);
  NodeId nodeAt(int row) const { return m_rows[static_cast<std::size_t>(row)]; }
  int rowOf(NodeId node) const;  ///< -1 if it is filtered out
  int totalCount() const { return m_snapshot ? static_cast<int>(m_snapshot->graph().nodeCount()) : 0; }
  /// The pin directive that names exactly this node, if there is one.
  std::optional<PinChoice> pinOf(NodeId node) const;
  /// The rows as they stand, with a header line (RFC 4180).
  QString csv() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  struct Row {
    LayerView view;
    QString fusedFull;       ///< for people
    std::string handle;      ///< of its fused node
    ShownTime time;          ///< of that, where this is its root
    QString kernelTypes;     ///< "f16, f32" where its kernel mixes types
    QString stored;          ///< type of its first result; "f32 inner" or "f32 wider" where that is in registers
    bool predicted = false;  ///< its fusion
    QString pin;             ///< "f16 (obey)"; of whichever directive won
    bool root = false;
  };
  void readPlan();
  void readTimes();
  void arrange();
  bool less(NodeId a, NodeId b) const;
  QString text(const Row& row, int column) const;
  QVariant toolTip(NodeId node, const Row& row, int column) const;

  std::shared_ptr<const PlanSnapshot> m_snapshot;
  const Row& rowData(NodeId node) const { return m_views[node.index]; }
  std::vector<Row> m_views;  ///< by node id
  std::vector<NodeId> m_rows;
  ShownTimes m_times;
  QString m_timesUnknown;
  LayerFilter m_filter;
  int m_sortColumn = -1;
  Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

}  // namespace fusescope
