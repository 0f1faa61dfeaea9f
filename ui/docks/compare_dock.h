#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/docks/dock_widgets.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// Any two runs: time per group of layers that cover the same nodes, and what they compute.
class CompareDock : public QWidget {
  Q_OBJECT

 public:
  explicit CompareDock(const DockContext& context, QWidget* parent = nullptr);
  TableModel& groups() { return m_groups; }
  TableModel& errors() { return m_errors; }
  QPushButton& compareButton() { return *m_compare; }
  QComboBox& chooserA() { return *m_a; }
  QComboBox& chooserB() { return *m_b; }
  QString summary() const { return m_summary->text(); }
  void refresh();

 private:
  QTableView* makeView(TableModel& model, const QList<int>& widths);
  QString summaryText() const;
  void refreshChoosers();

  DockContext m_context;
  TableModel m_groups, m_errors;
  QComboBox *m_a, *m_b;
  QPushButton* m_compare;
  QLabel* m_summary;
  QTabBar* m_tabs;
  QStackedWidget* m_pages;
  HintStack* m_stack;
};

}  // namespace fusescope
