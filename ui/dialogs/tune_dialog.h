#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "session/tune_answer.h"
#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/inputs_button.h"
#include "ui/jobs/worker_job.h"
#include "ui/models/table_model.h"
#include "ui/widgets/error_plot.h"

namespace fusescope {

/// Searches for the few pins that the network needs in order to be as accurate as requested. The worker does the
/// search, and its results are added to the plot. It can be stopped, with the best result so far, and continues from
/// there when it is started again with the same options, even if the session was closed in between. Nothing changes
/// until the user applies the pins, in one step that can be undone. The result of the last search is shown when the
/// dialog is opened again, also when its pins were applied; another search works on the network without them.
class TuneDialog : public QDialog {
  Q_OBJECT

 public:
  TuneDialog(const DockContext& context, WorkerClient& worker, QWidget* parent = nullptr);
  QComboBox& precision() { return *m_precision; }
  QLineEdit& allowed() { return *m_allowed; }
  QLineEdit& speedup() { return *m_speedup; }
  QLineEdit& metric() { return *m_metric; }
  QSpinBox& evaluations() { return *m_evaluations; }
  QSpinBox& seed() { return *m_seed; }
  QCheckBox& explain() { return *m_explain; }
  QCheckBox& baselines() { return *m_baselines; }
  /// Returns the check box for continuing with the evaluations of an earlier search, if there is one.
  QCheckBox& goOn() { return *m_goOn; }
  Fold& advanced() { return *m_advanced; }
  QSpinBox& budget() { return *m_budget; }
  QPushButton& startButton() { return *m_start; }
  QPushButton& stopButton() { return *m_stop; }
  QPushButton& takeButton() { return *m_take; }
  const ErrorPlot& plot() const { return *m_plot; }
  const std::vector<TunedPoint>& plotted() const { return m_plotted; }  ///< in the order of plot()'s points
  const TableModel& pins() const { return m_pins; }
  QString said() const { return m_said->text(); }
  bool working() const { return m_job.working(); }

 private:
  QLayout* makeOptions();
  void showPoints(const std::vector<TunedPoint>& points, const std::optional<TunedPoint>& chosen);
  QWidget* makeAdvanced();
  void fillChoices();
  void readSettings(const TuneSettings& settings);
  TuneSettings settings() const;
  /// The first wrong field, and what is wrong with it, for people. The field is null if none is wrong.
  struct Problem {
    QLineEdit* field = nullptr;
    QString text{};
  };
  Problem problem() const;
  WorkerRequest request() const;
  void renew();
  QString words() const;  ///< the texts of the dialog
  void start();
  bool mayRunMetric(const std::string& metric);
  void heardBetter(const QString& detail);
  void finished(const Result<TuneAnswer>& answer);
  void showAnswer(const TuneAnswer& answer);
  /// Shows what was found with these options before, if the network is still as it was then, or with its pins.
  void readKept();
  /// Returns whether the pins that are shown are in the plan already.
  bool shownAreTaken() const;
  void choose(int point);
  /// Returns the point that is selected in the plot, or the set that the search recommends.
  const TunedPoint& shownPoint() const;
  const std::vector<TunedPin>& shownPins() const;
  void take();
  void holdToWhatWasPromised();

  DockContext m_context;
  QComboBox *m_precision, *m_output;
  QLineEdit *m_allowed, *m_speedup, *m_metric;
  std::string m_metricOfSession;
  QSpinBox *m_budget, *m_evaluations, *m_seed;
  QCheckBox *m_explain, *m_baselines, *m_goOn;
  InputsButton* m_inputs;
  Fold* m_advanced;
  QPushButton *m_start, *m_stop, *m_take;
  ErrorPlot* m_plot;
  std::vector<TunedPoint> m_plotted;
  TableModel m_pins;
  QLabel* m_said;
  WorkerJob m_job;
  QString m_outcome;                 ///< the outcome of the last search, for people
  std::vector<TunedPoint> m_better;  ///< the points that were found so far
  std::optional<TunedTry> m_tried;   ///< the set that is being evaluated
  std::optional<TuneAnswer> m_answer;
  /// Options of the document with the pins of a search, and the directives without these pins.
  struct Taken {
    PlanOptions with;
    Directives without;
  };
  std::optional<Taken> m_taken;
};

}  // namespace fusescope
