#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Chooses the file with which the displayed plan is compared; the differences are shown in the Validation dock.
class DiffDialog : public QDialog {
  Q_OBJECT

 public:
  explicit DiffDialog(const DockContext& context, QWidget* parent = nullptr);
  QLineEdit& file() { return *m_file; }
  QComboBox& usedOptions() { return *m_usedOptions; }
  QPushButton& okButton() { return *m_ok; }
  QString said() const { return m_said->text(); }
  void accept() override;

 private:
  void check();

  DockContext m_context;
  QLineEdit* m_file;
  QComboBox* m_usedOptions;
  QLabel* m_said;
  QPushButton* m_ok;
};

}  // namespace fusescope
