#pragma once

#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QTableView>

#include "ui/docks/dock_context.h"
#include "ui/models/table_model.h"

namespace fusescope {

/// Sets which types that the target does not support are narrowed: those of inputs and of values that nodes calculate
/// from them, and those of constants. If the displayed plan is one of a compiler that divides the network into engines
/// (Torch-TensorRT), a table shows for each value what that compiler does, and what our plan for the target of these
/// engines does with the chosen modes.
class TruncationDialog : public QDialog {
  Q_OBJECT

 public:
  explicit TruncationDialog(const DockContext& context, QWidget* parent = nullptr);
  /// Return the choosers, in the order of TruncateMode.
  QComboBox& inputs() { return *m_inputs; }
  QComboBox& constants() { return *m_constants; }
  const TableModel& beside() const { return m_beside; }
  QTableView& besideView() { return *m_view; }
  QString said() const { return m_said->text(); }
  void accept() override;

 private:
  void makeBeside();
  void compare();

  DockContext m_context;
  QComboBox *m_inputs, *m_constants;
  TableModel m_beside;
  QTableView* m_view;
  QLabel* m_said;
};

}  // namespace fusescope
