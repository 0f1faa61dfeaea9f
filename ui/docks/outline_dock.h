#pragma once

#include <QSet>
#include <QTreeView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/models/outline_model.h"

namespace fusescope {

/// The tree segment → fused node → node.
class OutlineDock : public QWidget {
  Q_OBJECT

 public:
  explicit OutlineDock(const DockContext& context, QWidget* parent = nullptr);
  OutlineModel& model() { return m_model; }
  QTreeView& view() { return *m_view; }

 signals:
  void activated(const QString& name);
  void menuRequested(const QPoint& globalPosition);

 private:
  void refresh();
  void showSelection(const QObject* source);
  void readSelection();

  DockContext m_context;
  OutlineModel m_model;
  QTreeView* m_view;
  bool m_syncing = false;
};

}  // namespace fusescope
