#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTimer>
#include <QElapsedTimer>

#include "ui/dialogs/tune_plot.h"
#include "ui/docks/dock_context.h"
#include "ui/models/table_model.h"

namespace fusescope {

class WorkerClient;

/// Searches for the few pins that the network needs to be as good as asked: the worker does it, and what it finds grows
/// in the plot. It can be stopped, with the best so far. Nothing changes until the user takes the pins, in one step that
/// can be undone.
class TuneDialog : public QDialog {
  Q_OBJECT

 public:
  TuneDialog(const DockContext& context, WorkerClient& worker, QWidget* parent = nullptr);
  ~TuneDialog() override;
  QComboBox& precision() { return *m_precision; }
  QLineEdit& allowed() { return *m_allowed; }
  QSpinBox& budget() { return *m_budget; }
  QPushButton& startButton() { return *m_start; }
  QPushButton& stopButton() { return *m_stop; }
  QPushButton& takeButton() { return *m_take; }
  const TunePlot& plot() const { return *m_plot; }
  const TableModel& pins() const { return m_pins; }
  QString said() const { return m_said->text(); }
  bool working() const { return m_request != 0; }

 private:
  QLayout* makeWishes();
  void renew();
  void start();
  void stop();
  void heard(const QString& phase, const QString& detail);
  void finished(const Result<TuneAnswer>& answer);
  void showAnswer(const TuneAnswer& answer);
  void take();
  std::optional<double> allowedError() const;
  WorkerRequest request() const;

  DockContext m_context;
  WorkerClient& m_worker;
  QComboBox *m_precision, *m_output;
  QLineEdit* m_allowed;
  QSpinBox* m_budget;
  QPushButton *m_inputs, *m_start, *m_stop, *m_take;
  TunePlot* m_plot;
  TableModel m_pins;
  QLabel* m_said;
  QTimer m_clock;
  QElapsedTimer m_elapsed;
  std::int64_t m_request = 0;
  QString m_phase;
  std::vector<TunedPoint> m_better;  ///< found so far
  std::optional<TuneAnswer> m_answer;
};

}  // namespace fusescope
