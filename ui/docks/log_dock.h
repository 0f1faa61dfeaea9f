#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTextBrowser>
#include <QTimer>
#include <string>

#include "ui/docks/dock.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"
#include "ui/widgets/name_combo_box.h"

namespace fusescope {

/// Shows the worker's messages about a run, line by line, with links for names of nodes, and the phases of its build
/// beside their times in the previous run.
class LogDock : public Dock {
  Q_OBJECT

 public:
  explicit LogDock(const DockContext& context);
  QString text() { return fresh(*m_log).toPlainText(); }
  QTextBrowser& log() { return fresh(*m_log); }
  TableModel& phases() { return fresh(m_phases); }
  QComboBox& chooser() { return fresh(*m_run); }
  QLineEdit& filter() { return *m_filter; }
  QCheckBox& follow() { return *m_follow; }
  QPushButton& copyButton() { return fresh(*m_copy); }
  QString status() { return fresh(*m_status).text(); }

 protected:
  void renew(Parts parts) override;

 private:
  static constexpr Parts kLines = 1;  ///< lines are only appended
  /// Returns the run that was chosen, otherwise the one on which the worker is working, otherwise the displayed one.
  const Run* run() const;
  void renewChooser();
  void renewPhases(const Run* run);
  void renewLog(const Run* run);
  void follow(const QUrl& link);

  NameComboBox* m_run;
  QLineEdit* m_filter;
  QCheckBox* m_follow;
  QPushButton* m_copy;
  QLabel *m_status, *m_before;
  TableModel m_phases;
  QTableView* m_view;
  HintStack* m_stack;
  QTextBrowser* m_log;
  std::string m_loggedRun;  ///< the run whose lines are shown, their number, and the filter
  std::size_t m_loggedLines = 0;
  QString m_loggedFilter;
  QTimer m_clock;  ///< updates the elapsed time while the worker works
};

}  // namespace fusescope
