#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <vector>

#include "ui/compare/plan_comparison.h"
#include "ui/models/roles.h"

namespace fusescope {

/// The differences between two plans as a tree: groups, and the places of each group that has several. The columns are
/// what, Δ time and Δ error.
class DifferenceModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum class Order { Cost, Execution };
  enum Role {
    kSignRole = Qt::UserRole + 100,  ///< QString: "+", "−", "~"
    kDetailRole                      ///< QString: lines below the first, with block and cause
  };

  using QAbstractItemModel::QAbstractItemModel;
  void setPair(std::shared_ptr<const ComparedPair> pair);
  void setOrder(Order order);

  int groupCount() const { return int(m_rows.size()); }
  const DifferenceGroup* groupAt(const QModelIndex& index) const;  ///< the group, or the group of a place; null: no
                                                                   ///< index
  /// Return the nodes of the union that a row concerns; firstNodes() only those of the place that is shown first.
  QStringList firstNodes(const QModelIndex& index) const;
  QStringList allNodes(const QModelIndex& index) const;
  /// Returns the text of the whole row, for tool tips and screen readers.
  QString wordsAt(const QModelIndex& index) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  void sort();
  const DifferenceSite* siteAt(const QModelIndex& index) const;  ///< null for a row of a group
  QString detailOf(const DifferenceGroup& group) const;

  std::shared_ptr<const ComparedPair> m_pair;
  std::vector<const DifferenceGroup*> m_rows;
  Order m_order = Order::Cost;
};

}  // namespace fusescope
