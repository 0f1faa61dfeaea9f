#pragma once

#include <QAbstractTableModel>
#include <QSet>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"
#include "ui/models/layer_filter.h"
#include "ui/models/roles.h"

namespace fusescope {

/// What a user chooses for a node: a type with its strictness, or none.
struct PinChoice {
  DataType type = DataType::Undefined;
  Strictness strictness = Strictness::Prefer;
  QString text() const;
};

/// One row per node of the network and of its bodies (named HOLDER/NAME), and one per kernel of another compiler that
/// belongs to none of these rows, because it has no nodes or its main node is in an earlier kernel. Sorting and
/// filtering are done here on plain values, in milliseconds for thousands of rows.
class LayersModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kNode,
    kOp,
    kFused,
    kSegment,
    kCompute,
    kStored,
    kPin,
    kFlops,
    kBytes,
    kTime,
    kLocal,
    kCarried,
    kColumns
  };

  using QAbstractTableModel::QAbstractTableModel;
  void setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot);
  /// Sets the times of a run by handle of fused node, in bodies "HOLDER/HANDLE"; predictions are shown where it has
  /// none. `unknown` says why the run has no times at all.
  void setTimes(ShownTimes times, const QString& unknown);
  /// Sets the errors of a run by handle of fused node.
  void setErrors(ShownErrors errors);
  /// Sets the node where the displayed run first becomes wrong; empty: none.
  void setFailing(const QString& node);
  void setFilter(const LayerFilter& filter);
  /// Returns the node of a row, in the graph of levelAt(); invalid if the row is a kernel's.
  NodeId nodeAt(int row) const { return rowAt(row).node; }
  /// Returns the handle of the kernel of the row; empty if the row is a node's.
  std::string kernelAt(int row) const;
  /// Returns why its node cannot be pinned; empty if it can.
  QString pinRefusalAt(int row) const { return pinRefusalOf(rowAt(row)); }
  const PlanSnapshot::Level& levelAt(int row) const { return m_levels[rowAt(row).level]; }
  QString nameAt(int row) const { return rowAt(row).view.node; }
  int rowOf(const QString& name) const;              ///< -1 if it is filtered out
  int rowOfKernel(const std::string& handle) const;  ///< for a kernel with a row of its own; -1 if it is filtered out
  /// Returns the rows of `nodes` that are not filtered out.
  QList<int> rowsOf(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes) const;
  int totalCount() const { return static_cast<int>(m_views.size()); }
  /// Returns the pin that names exactly this node, if there is one.
  std::optional<PinChoice> pinOf(const QString& name) const;
  /// Returns work, traffic and time of the displayed rows, and whether those in bodies are included.
  QString totalsText() const;
  /// Returns the rows in the present order, with a header line (RFC 4180).
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
    NodeId node;  ///< invalid for the row of a kernel
    std::uint32_t level = 0;
    /// the fused node that contains the node, or the kernel of the row; null if the node has no kernel
    const FusedNode* fused = nullptr;
    ShownTime time;       ///< the time of its fused node, if the node is the root
    ShownError error;     ///< the error of its fused node, if the node is the root
    QString kernelTypes;  ///< "f16, f32" if its kernel mixes types
    QString stored;       ///< the type of its first result; "f32 inner" or "f32 wider" if that exists only in registers
    bool predicted = false;  ///< whether its fusion is predicted
    QString pin;             ///< the pin that won, such as "f16 (obey)"
    bool root = false;       ///< whether the time of the kernel is in this row
    /// the bytes that its fused node reads and writes in memory, if the node is the root
    std::optional<double> kernelBytes;
  };
  void readPlan();
  void readLevel(std::uint32_t level);
  Row readNode(std::uint32_t level, NodeId node);
  Row readKernel(std::uint32_t level, const FusedNode& fused);
  void readTypes(const PlanSnapshot& snapshot, Row& row);
  /// Returns one string for all equal texts.
  const QString& shared(const std::string& text);
  const QString& shared(const QString& text) { return *m_shared.insert(text); }
  QString fusedNameOf(const Row& row) const;
  void readTimes();
  void readErrors();
  void arrange();
  bool less(const Row& a, const Row& b) const;
  QString text(const Row& row, int column) const;
  QVariant toolTip(const Row& row, int column) const;
  QString twinOf(const Row& row, int column) const;
  QString pinRefusalOf(const Row& row) const;

  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::vector<PlanSnapshot::Level> m_levels;
  const Row& rowAt(int row) const { return m_views[m_rows[static_cast<std::size_t>(row)]]; }
  std::vector<Row> m_views;  ///< the nodes of the network in the order of the graph, followed by those of its bodies
  QSet<QString> m_shared;
  std::unordered_map<std::string, QString> m_sharedOf;
  std::vector<std::uint32_t> m_rows;  ///< indices in m_views
  ShownTimes m_times;
  QString m_timesUnknown;
  ShownErrors m_errors;
  QString m_failing;
  LayerFilter m_filter;
  int m_sortColumn = -1;
  Qt::SortOrder m_sortOrder = Qt::AscendingOrder;
};

}  // namespace fusescope
