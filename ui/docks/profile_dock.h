#pragma once

#include <QLabel>
#include <QTableView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/docks/dock_widgets.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// Time per layer of the run that is shown, slowest first.
class ProfileDock : public QWidget {
  Q_OBJECT

 public:
  explicit ProfileDock(const DockContext& context, QWidget* parent = nullptr);
  TableModel& model() { return m_model; }
  QString total() const { return m_total->text(); }
  void refresh();

 private:
  DockContext m_context;
  TableModel m_model;
  QLabel* m_total;
  QTableView* m_view;
  HintStack* m_stack;
};

}  // namespace fusescope
