#pragma once

#include <QComboBox>
#include <QDialog>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// What is narrowed of the types that the target lacks: of inputs and what nodes make of them, and of constants.
class TruncationDialog : public QDialog {
  Q_OBJECT

 public:
  explicit TruncationDialog(const DockContext& context, QWidget* parent = nullptr);
  /// By TruncateMode.
  QComboBox& inputs() { return *m_inputs; }
  QComboBox& constants() { return *m_constants; }
  void accept() override;

 private:
  DockContext m_context;
  QComboBox *m_inputs, *m_constants;
};

}  // namespace fusescope
