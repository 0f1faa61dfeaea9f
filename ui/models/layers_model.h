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

/// One row per node of the network and of its bodies, those named HOLDER/NAME. Sorted and filtered here, over plain
/// values: thousands of rows in milliseconds.
class LayersModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kNode, kOp, kFused, kSegment, kCompute, kStored, kPin, kFlops, kBytes, kTime, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot);
  /// Times of a run, in bodies by "HOLDER/HANDLE"; where it has none, what was predicted is shown. `unknown` says why
  /// the run has none at all.
  void setTimes(ShownTimes times, const QString& unknown);
  void setFilter(const LayerFilter& filter);
  NodeId nodeAt(int row) const { return rowAt(row).node; }  ///< in the plan of levelAt()
  const PlanSnapshot::Level& levelAt(int row) const { return m_levels[rowAt(row).level]; }
  QString nameAt(int row) const { return rowAt(row).view.node; }
  int rowOf(const QString& name) const;                                                 ///< -1 if it is filtered out
  QList<int> rowsOf(const PlanSnapshot& plan, const std::vector<NodeId>& nodes) const;  ///< that are not filtered out
  int totalCount() const { return static_cast<int>(m_views.size()); }
  /// The pin directive that names exactly this node, if there is one.
  std::optional<PinChoice> pinOf(const QString& name) const;
  /// Work, traffic and time of the rows that are shown, and whether those in bodies count.
  QString totalsText() const;
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
    NodeId node;
    std::uint32_t level = 0;
    QString fusedFull;       ///< for people
    std::string handle;      ///< of its fused node, in a body "HOLDER/HANDLE"
    ShownTime time;          ///< of that, where this is its root
    QString kernelTypes;     ///< "f16, f32" where its kernel mixes types
    QString stored;          ///< type of its first result; "f32 inner" or "f32 wider" where that is in registers
    bool predicted = false;  ///< its fusion
    QString pin;             ///< "f16 (obey)"; of whichever directive won
    bool root = false;
  };
  void readPlan();
  void readLevel(std::uint32_t level);
  Row readNode(std::uint32_t level, NodeId node) const;
  void readTimes();
  void arrange();
  bool less(const Row& a, const Row& b) const;
  QString text(const Row& row, int column) const;
  static QString callsNote(const Row& row);
  QVariant toolTip(const Row& row, int column) const;
  QString pinRefusalOf(const Row& row) const;

  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::vector<PlanSnapshot::Level> m_levels;
  const Row& rowAt(int row) const { return m_views[m_rows[static_cast<std::size_t>(row)]]; }
  std::vector<Row> m_views;           ///< the network's in graph order, then those of its bodies
  std::vector<std::uint32_t> m_rows;  ///< of m_views
  ShownTimes m_times;
  QString m_timesUnknown;
  LayerFilter m_filter;
  int m_sortColumn = -1;
  Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

}  // namespace fusescope
