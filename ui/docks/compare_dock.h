#pragma once

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>

#include "ui/docks/compare_matrix.h"
#include "ui/docks/dock.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// Shows runs side by side, and for two of them the time of each group of layers that cover the same nodes, timed in
/// turns, and the differences of their results.
class CompareDock : public Dock {
  Q_OBJECT

 public:
  explicit CompareDock(const DockContext& context);
  TableModel& groups() { return fresh(m_groups); }
  TableModel& errors() { return fresh(m_errors); }
  QPushButton& compareButton() { return fresh(*m_compare); }
  QComboBox& chooserA() { return fresh(*m_a); }
  QComboBox& chooserB() { return fresh(*m_b); }
  QString summary() { return fresh(*m_summary).text(); }
  CompareMatrix& matrix() { return *m_matrix; }
  QTabBar& tabs() { return *m_tabs; }

 protected:
  void renew(Parts parts) override;

 private:
  enum Tab { kMatrix, kTimes, kValuesOfRuns, kValuesOfF32 };
  static constexpr Parts kChoosers = 1;  ///< the other parts are made together with them
  QTableView* makeView(TableModel& model, const QList<int>& widths);
  QString summaryText() const;
  void renewChoosers();

  TableModel m_groups, m_errors;
  QComboBox *m_a, *m_b;
  QPushButton* m_compare;
  QLabel* m_summary;
  QTabBar* m_tabs;
  QStackedWidget* m_pages;
  CompareMatrix* m_matrix;
  HintStack* m_stack;
};

}  // namespace fusescope
