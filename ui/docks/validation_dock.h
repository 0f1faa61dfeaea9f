#pragma once

#include <QLabel>
#include <QTabBar>
#include <QTableView>

#include "ui/docks/dock.h"
#include "ui/docks/dock_widgets.h"
#include "ui/models/decisions_model.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// What the last edit did, and every verdict: of validators, of the partition, of precision and pins.
class ValidationDock : public Dock {
  Q_OBJECT

 public:
  explicit ValidationDock(const DockContext& context);
  DecisionsModel& model() { return fresh(m_decisions); }
  TableModel& castsModel() { return fresh(m_casts); }
  QString summary() { return fresh(*m_summary).text(); }

 protected:
  void renew(Parts parts) override;

 private:
  void showTab(int tab);
  void retitleTabs();
  QString summaryText() const;

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
