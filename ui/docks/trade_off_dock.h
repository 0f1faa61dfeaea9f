#pragma once

#include <QComboBox>
#include <QTableView>

#include "ui/docks/dock.h"
#include "ui/models/trade_off.h"
#include "ui/widgets/common_widgets.h"
#include "ui/widgets/error_plot.h"

namespace fusescope {

/// Shows error against measured latency of the runs, with the front; runs that were made under the same conditions are
/// shown together. Choosing a point or a row displays its run; runs without a time or an error are listed with the
/// reason.
class TradeOffDock : public Dock {
  Q_OBJECT

 public:
  explicit TradeOffDock(const DockContext& context);
  ErrorPlot& plot() { return fresh(*m_plot); }
  QComboBox& groups() { return fresh(*m_groups); }
  QTableView& table() { return fresh(*m_view); }
  const TableModel& model() { return fresh(m_model); }

 protected:
  void renew(Parts parts) override;

 private:
  void showGroup();
  const TradeOffGroup* group() const;  ///< null if there is none

  std::vector<TradeOffGroup> m_known;
  std::vector<std::string> m_plotted;  ///< ids of runs, in the order of the plot's points
  QComboBox* m_groups;
  ErrorPlot* m_plot;
  TableModel m_model;
  QTableView* m_view;
  HintStack* m_stack;
};

}  // namespace fusescope
