#pragma once

#include <QLineEdit>
#include <QSet>
#include <QTreeView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/models/outline_model.h"

namespace fusescope {

/// The tree segment → fused node → node, with bodies below their holders, and a search through all names in it.
class OutlineDock : public QWidget {
  Q_OBJECT

 public:
  explicit OutlineDock(const DockContext& context, QWidget* parent = nullptr);
  OutlineModel& model() { return m_model; }
  QTreeView& view() { return *m_view; }
  QLineEdit& searchBox() { return *m_search; }

 signals:
  void activated(const QString& name);
  void menuRequested(const QPoint& globalPosition);

 private:
  void refresh();
  void showSelection(const QObject* source);
  void readSelection();
  void findNext();
  void collectOpen(const QModelIndex& parent, QSet<QString>& open) const;
  void reopen(const QModelIndex& parent, const QSet<QString>& open);

  DockContext m_context;
  OutlineModel m_model;
  QLineEdit* m_search;
  QTreeView* m_view;
  QString m_found;  ///< what the search found last
  bool m_syncing = false;
};

}  // namespace fusescope
