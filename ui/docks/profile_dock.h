#pragma once

#include <QLabel>
#include <QTableView>

#include "ui/docks/dock.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// Shows the time of each layer in the displayed run, the slowest first.
class ProfileDock : public Dock {
  Q_OBJECT

 public:
  explicit ProfileDock(const DockContext& context);
  TableModel& model() { return fresh(m_model); }
  QString total() { return fresh(*m_total).text(); }

 protected:
  void renew(Parts parts) override;

 private:
  /// Returns which run the table is about, and its time.
  QString totalText(const Run* run, bool ofOtherPlan) const;
  TableModel m_model;
  QLabel* m_total;
  QTableView* m_view;
  HintStack* m_stack;
};

}  // namespace fusescope
