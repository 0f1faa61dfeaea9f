#pragma once

#include <QLabel>
#include <QTabBar>
#include <QTableView>

#include "ui/docks/dock.h"
#include "ui/models/decisions_model.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// Shows whether the displayed run passes, sample by sample; the effects of the last edit; the differences from a file;
/// and every verdict of validators, of the partition, of precision and pins.
class ValidationDock : public Dock {
  Q_OBJECT

 public:
  explicit ValidationDock(const DockContext& context);
  DecisionsModel& model() { return fresh(m_decisions); }
  TableModel& castsModel() { return fresh(m_casts); }
  TableModel& samplesModel() { return fresh(m_samples); }
  TableModel& differencesModel() { return fresh(m_differences); }
  QTabBar& tabs() { return fresh(*m_tabs); }
  QString summary() { return fresh(*m_summary).text(); }

 protected:
  void renew(Parts parts) override;

 private:
  QTableView* makeView(QAbstractItemModel& model, const QSet<int>& typeColumns, const QList<int>& widths);
  void showTab(int tab);
  void retitleTabs();
  QString lastEditHint() const;
  QString hintOf(int tab) const;
  QString summaryText() const;
  QString editText() const;
  QString fileText() const;
  void follow(const QString& link);

  DecisionsModel m_decisions;
  TableModel m_casts, m_samples, m_differences;
  QLabel* m_summary;
  QTabBar* m_tabs;
  HintStack* m_stack;
  QStackedWidget* m_pages;
};

/// Returns the effects of an edit as HTML: lost and gained fusions, casts, bytes, types.
QString deltaText(const PlanDelta& delta);

}  // namespace fusescope
