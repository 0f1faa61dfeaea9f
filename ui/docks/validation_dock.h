#pragma once

#include <QLabel>
#include <QTabBar>
#include <QTableView>
#include <QWidget>

#include "ui/docks/dock_context.h"
#include "ui/docks/dock_widgets.h"
#include "ui/models/decisions_model.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// What the last edit did, and every verdict: of validators, of the partition, of precision and pins.
class ValidationDock : public QWidget {
  Q_OBJECT

 public:
  explicit ValidationDock(const DockContext& context, QWidget* parent = nullptr);
  DecisionsModel& model() { return m_decisions; }
  TableModel& castsModel() { return m_casts; }
  QString summary() const { return m_summary->text(); }
  void refresh();

 private:
  void showTab(int tab);
  void retitleTabs();
  QString summaryText() const;

  DockContext m_context;
  DecisionsModel m_decisions;
  TableModel m_casts;
  QLabel* m_summary;
  QTabBar* m_tabs;
  QTableView* m_decisionView;
  QTableView* m_castView;
  HintStack* m_stack;
  QStackedWidget* m_pages;
};

/// What an edit did, in words (HTML): fusions lost and gained, casts, bytes, types.
QString deltaText(const PlanDelta& delta);

}  // namespace fusescope
