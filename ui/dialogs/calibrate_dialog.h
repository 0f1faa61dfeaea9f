#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>

#include "ui/dialogs/dialog_fields.h"
#include "ui/dialogs/inputs_button.h"
#include "ui/jobs/worker_job.h"
#include "ui/models/table_model.h"
#include "ui/widgets/histogram_plot.h"

namespace fusescope {

/// Measures the ranges of the network's values on the session's inputs, or reads them from a file, and shows the
/// numbers of each edge. Nothing changes until the user applies them: then int8 with these ranges, and weights that are
/// stored as integers, are requested in one step that can be undone.
class CalibrateDialog : public QDialog {
  Q_OBJECT

 public:
  CalibrateDialog(const DockContext& context, WorkerClient& worker, QWidget* parent = nullptr);
  QComboBox& method() { return *m_method; }
  QCheckBox& symmetric() { return *m_symmetric; }
  QPlainTextEdit& exclude() { return *m_exclude; }
  QComboBox& weightOnly() { return *m_weightOnly; }
  QSpinBox& block() { return *m_block; }
  QCheckBox& everywhere() { return *m_everywhere; }
  Fold& advanced() { return *m_advanced; }
  QDoubleSpinBox& smoothing() { return *m_smoothing; }
  QPushButton& startButton() { return *m_start; }
  QPushButton& stopButton() { return *m_stop; }
  QPushButton& openButton() { return *m_open; }
  QPushButton& saveButton() { return *m_save; }
  QPushButton& dropButton() { return *m_drop; }
  QPushButton& takeButton() { return *m_take; }
  QTableView& edges() { return *m_view; }
  const HistogramPlot& plot() const { return *m_plot; }
  QString said() const { return m_said->text(); }
  bool working() const { return m_job.working(); }
  /// Shows the ranges of a file, so that the user can apply them with *Use*.
  void openFile(const QString& path);

 private:
  /// What was measured or read, and the rows that the table shows.
  struct Found {
    std::shared_ptr<const Ranges> ranges;
    TableContent content;
  };
  static Found foundOf(std::shared_ptr<const Ranges> ranges);

  void makeFields();
  QLayout* makeWeightOnly();
  QLayout* makeOptions();
  QWidget* makeAdvanced();
  QWidget* makeButtons();
  void readSettings(const CalibrationSettings& settings);
  CalibrationSettings settings() const;
  PlanOptions editedOptions() const;
  bool changesSomething() const;
  void findExcluded();
  WorkerRequest request() const;
  void start();
  void chooseFile();
  void saveFile();
  void drop();
  void take();
  void showFound(const Found& found, const QString& from);
  void showEdge(const QModelIndex& row);
  void renew();

  DockContext m_context;
  QComboBox *m_method, *m_weightMethod, *m_weightOnly;
  QDoubleSpinBox *m_percentile, *m_smoothing;
  QCheckBox *m_symmetric, *m_perChannel, *m_correctBiases, *m_everywhere;
  QPlainTextEdit* m_exclude;
  QLabel* m_excluded;
  QSpinBox* m_block;
  InputsButton* m_inputs;
  Fold* m_advanced;
  QPushButton *m_start, *m_stop, *m_open, *m_save, *m_drop, *m_take;
  QFormLayout* m_form;
  HistogramPlot* m_plot;
  TableModel m_edges;
  QTableView* m_view;
  QLabel* m_said;
  WorkerJob m_job;
  std::shared_ptr<const Ranges> m_ranges;  ///< the ranges that are shown, or null
  QString m_from, m_problem;  ///< the source of the ranges if they were not measured; the problem of the last attempt
  bool m_patternsFit = true;
};

}  // namespace fusescope
