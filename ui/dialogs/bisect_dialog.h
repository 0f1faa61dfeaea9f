#pragma once

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <optional>

#include "session/documents/bisect_report.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/inputs_button.h"
#include "ui/jobs/worker_job.h"
#include "ui/models/table_model.h"

class QTableView;

namespace fusescope {

/// Searches for what makes an output wrong, as `errors --bisect` does: optimisers of the compiler, our fusion rules, or
/// types of nodes. The worker does the search. The culprits are shown; a click on one that is a node selects it.
/// Nothing changes until the user switches the culprits off, in one step that can be undone.
class BisectDialog : public QDialog {
  Q_OBJECT

 public:
  BisectDialog(const DockContext& context, WorkerClient& worker, QWidget* parent = nullptr);
  QLineEdit& allowed() { return *m_allowed; }
  QSpinBox& budget() { return *m_budget; }
  QSpinBox& builds() { return *m_builds; }
  QPushButton& startButton() { return *m_start; }
  QPushButton& stopButton() { return *m_stop; }
  QPushButton& leaveOutButton() { return *m_leaveOut; }
  QTableView& culpritsView() { return *m_view; }
  const TableModel& tried() const { return m_tried; }
  const TableModel& culprits() const { return m_culprits; }
  QString said() const { return m_said->text(); }
  bool working() const { return m_job.working(); }
  void done(int result) override;

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QLayout* makeOptions();
  QString problem() const;
  WorkerRequest request() const;
  PlanOptions withoutCulprits() const;
  QString leaveOutRefusal() const;
  void renew();
  void start();
  void show(const Result<BisectReport>& report);
  void leaveOut();

  DockContext m_context;
  QLineEdit* m_allowed;
  QSpinBox *m_budget, *m_builds;
  InputsButton* m_inputs;
  QPushButton *m_start, *m_stop, *m_leaveOut;
  QTableView* m_view;
  TableModel m_tried, m_culprits;
  QLabel* m_said;
  WorkerJob m_job;
  QString m_outcome;  ///< the outcome of the last search, for people
  std::optional<BisectReport> m_report;
  QTimer m_endAsked;  ///< while it runs, another Escape ends the search and closes the dialog
};

}  // namespace fusescope
