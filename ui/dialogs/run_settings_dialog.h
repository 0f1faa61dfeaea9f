#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// What runs are built, timed and evaluated with: backend, threads; and what is close enough. Their inputs:
/// InputsDialog.
class RunSettingsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit RunSettingsDialog(const DockContext& context, QWidget* parent = nullptr);
  QLineEdit& tolerance() { return *m_rms; }
  /// By ErrorsAgainst.
  QComboBox& against() { return *m_against; }
  void accept() override;

 private:
  void check();

  DockContext m_context;
  QLineEdit *m_rms, *m_absolute, *m_relative;
  QComboBox* m_backend;
  QSpinBox* m_threads;
  QComboBox* m_against;
  QLabel* m_problem;
  QPushButton* m_ok;
};

}  // namespace fusescope
