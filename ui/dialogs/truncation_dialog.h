#pragma once

#include <QComboBox>
#include <QDialog>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Sets which types that the target does not support are narrowed: those of inputs and of values that nodes calculate
/// from them, and those of constants.
class TruncationDialog : public QDialog {
  Q_OBJECT

 public:
  explicit TruncationDialog(const DockContext& context, QWidget* parent = nullptr);
  /// Return the choosers, in the order of TruncateMode.
  QComboBox& inputs() { return *m_inputs; }
  QComboBox& constants() { return *m_constants; }
  void accept() override;

 private:
  DockContext m_context;
  QComboBox *m_inputs, *m_constants;
};

}  // namespace fusescope
