#pragma once

#include <QLineEdit>
#include <QSet>
#include <QTreeView>

#include "ui/docks/dock.h"
#include "ui/models/outline_model.h"

namespace fusescope {

/// Shows the tree segment → block → fused node → node, with bodies below their holders, and searches all names in it.
class OutlineDock : public Dock {
  Q_OBJECT

 public:
  explicit OutlineDock(const DockContext& context);
  OutlineModel& model() { return fresh(m_model); }
  QTreeView& view() { return fresh(*m_view); }
  QLineEdit& searchBox() { return fresh(*m_search); }

 protected:
  void renew(Parts parts) override;

 private:
  static constexpr Parts kPlan = 1, kSelection = 2;
  void renewPlan();
  void showSelection();
  void readSelection();
  void findNext();
  void collectOpen(const QModelIndex& parent, QSet<QString>& open) const;
  void reopen(const QModelIndex& parent, const QSet<QString>& open);

  OutlineModel m_model;
  QLineEdit* m_search;
  QTreeView* m_view;
  QString m_found;  ///< what the search found last
  bool m_syncing = false;
};

}  // namespace fusescope
