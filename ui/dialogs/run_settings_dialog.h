#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Sets what runs are built, timed and evaluated with (compiler, backend, threads) and the tolerance. For their inputs
/// see InputsDialog. The compiler is an option of the plan: choosing another one is an edit of the document.
class RunSettingsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit RunSettingsDialog(const DockContext& context, QWidget* parent = nullptr);
  QLineEdit& tolerance() { return *m_rms; }
  /// Returns the chooser, in the order of allCompilers().
  QComboBox& compiler() { return *m_compiler; }
  QComboBox& backend() { return *m_backend; }
  /// Returns the chooser, in the order of ErrorsAgainst.
  QComboBox& against() { return *m_against; }
  void accept() override;

 private:
  void check();
  void renewCompilers();
  const Compiler& chosen() const;

  DockContext m_context;
  QLineEdit *m_rms, *m_absolute, *m_relative;
  QComboBox *m_compiler, *m_backend;
  QSpinBox* m_threads;
  QComboBox* m_against;
  QLabel* m_problem;
  QPushButton* m_ok;
};

}  // namespace fusescope
