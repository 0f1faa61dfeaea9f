#pragma once

#include <QAbstractItemModel>
#include <memory>

#include "ui/document/plan_snapshot.h"
#include "ui/models/roles.h"

namespace fusescope {

/// The tree segment → fused node → node. A fused node of one node has no children: it is that node.
class OutlineModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kName, kType, kColumns };

  using QAbstractItemModel::QAbstractItemModel;
  void setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot);
  /// The deepest row that stands for `node`.
  QModelIndex indexOf(NodeId node) const;
  QModelIndex indexOfFused(std::uint32_t fused) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  enum Level { kSegment, kFused, kNode };
  /// An index carries its level and the number of its parent's entry (segment, or fused node).
  static quintptr idOf(Level level, std::uint32_t parentEntry) {
    return (quintptr(parentEntry) << 2) | quintptr(level);
  }
  static Level levelOf(const QModelIndex& index) { return static_cast<Level>(index.internalId() & 3); }
  static std::uint32_t parentEntryOf(const QModelIndex& index) {
    return static_cast<std::uint32_t>(index.internalId() >> 2);
  }
  std::uint32_t fusedOf(const QModelIndex& index) const;
  QVariant segmentData(std::uint32_t segment, int column, int role) const;
  static QString typesText(const Plan& plan, const FusedNode& fused);  ///< "f16", "f16+f32"
  QVariant fusedData(std::uint32_t fused, int column, int role) const;
  QVariant nodeData(NodeId node, int column, int role) const;

  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::vector<std::vector<std::uint32_t>> m_fusedOfSegment;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_placeOfFused;  ///< segment, row in it
};

}  // namespace fusescope
