#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTextBrowser>
#include <optional>

#include "probe/found_environment.h"
#include "ui/document/known_environments.h"

namespace fusescope {

/// Adds an environment: its name and the command that starts Python there. The command is shown exactly as it will be
/// started, and pressing Start confirms it; what was found or is missing is shown before the environment is added.
class AddEnvironmentDialog : public QDialog {
  Q_OBJECT

 public:
  explicit AddEnvironmentDialog(Environments& environments, QWidget* parent = nullptr);
  QLineEdit& name() { return *m_name; }
  QLineEdit& command() { return *m_command; }
  QDoubleSpinBox& memory() { return *m_memory; }  ///< in GiB
  QCheckBox& keepsFiles() { return *m_keepsFiles; }
  QPushButton& startButton() { return *m_start; }
  QPushButton& stopButton() { return *m_stop; }
  QPushButton& addButton() { return *m_add; }
  /// Returns what was found or is wrong, as plain text.
  QString said() const { return m_said->toPlainText(); }
  /// Returns the environment as it is typed.
  Environment environment() const;
  void accept() override;
  void done(int result) override;

 private:
  QString problem() const;
  void start();
  void stop();
  void check();

  Environments& m_environments;
  QLineEdit *m_name, *m_command;
  QDoubleSpinBox* m_memory;
  QCheckBox* m_keepsFiles;
  QLabel* m_agreed;
  QPushButton *m_start, *m_stop, *m_add;
  QTextBrowser* m_said;
  bool m_isTrying = false;
  std::optional<FoundEnvironment> m_found;
  QString m_outcome;  ///< shown instead of a result: the attempt was cancelled or was impossible
};

}  // namespace fusescope
