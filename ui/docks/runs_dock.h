#pragma once

#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTimer>
#include <string>

#include "ui/docks/dock.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// Lists every run of the session: what it was made from, its time, its verdict, its phases. It makes new runs, shows
/// and compares old ones, and restores their directives.
class RunsDock : public Dock {
  Q_OBJECT

 public:
  explicit RunsDock(const DockContext& context);
  QPushButton& buildButton() { return fresh(*m_build); }
  QPushButton& bothButton() { return fresh(*m_both); }
  QPushButton& evaluateButton() { return fresh(*m_evaluate); }
  QPushButton& errorsButton() { return fresh(*m_errors); }
  QPushButton& restoreButton() { return fresh(*m_restore); }
  QPushButton& inputsButton() { return fresh(*m_inputs); }
  QPushButton& cancelButton() { return fresh(*m_cancel); }
  QTableView& table() { return fresh(*m_view); }
  TableModel& model() { return fresh(m_model); }
  QString details() { return fresh(*m_details).text(); }

 protected:
  void renew(Parts parts) override;

 private:
  QWidget* makeTools();
  void renewTools();
  void renewTable();
  void renewDetails();
  void popUpMenu(const QPoint& place);
  /// Returns the run in the selected row, or else the displayed run.
  const Run* selected() const;
  std::string shownId() const;  ///< the id of the displayed run; empty if there is none
  void goBack();
  QString restoreRefusal(const Run& run) const;
  QString detailsText(const Run& run) const;
  QString onScreenText(const Run& run) const;

  QPushButton *m_build, *m_both, *m_evaluate, *m_errors, *m_restore, *m_cancel, *m_inputs, *m_settings;
  QLabel *m_status, *m_details;
  TableModel m_model;
  QTableView* m_view;
  HintStack* m_stack;
  std::string m_shown;  ///< the run that was displayed when the table was last made
  QTimer m_clock;       ///< updates the elapsed time while the worker works
};

}  // namespace fusescope
