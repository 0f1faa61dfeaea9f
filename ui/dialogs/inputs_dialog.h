#pragma once

#include <QCheckBox>
#include <QDialog>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>

#include "session/inputs/sample_source.h"
#include "ui/docks/dock_context.h"
#include "ui/models/table_model.h"
#include "ui/widgets/common_widgets.h"

namespace fusescope {

/// Sets the inputs for timing and evaluating runs: files and folders, optionally cut into samples along an axis, or
/// random inputs. Their contents are read and listed at once; if something cannot be read, the place is shown, and the
/// inputs are not accepted.
class InputsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit InputsDialog(const DockContext& context, QWidget* parent = nullptr);
  void addPaths(const QStringList& paths);
  QListWidget& paths() { return *m_paths; }
  QCheckBox& cut() { return *m_cut; }
  QSpinBox& axis() { return *m_axis; }
  QPushButton& addFilesButton() { return *m_addFiles; }
  QPushButton& removeButton() { return *m_remove; }
  QPushButton& randomButton() { return *m_random; }
  QPushButton& okButton() { return *m_ok; }
  /// Returns what was found, or what is wrong.
  QString said() const { return m_said->text(); }
  const TableModel& found() const { return m_found; }
  void accept() override;

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  QLayout* makeSource();
  void chooseFiles();
  void chooseFolder();
  void removeSelected();
  SampleSource source() const;
  void read();
  void renewButtons();
  void markProblem(const Diagnostic* problem);
  void focusWrong(const Diagnostic& problem);

  DockContext m_context;
  QListWidget* m_paths;
  HintStack* m_source;
  QPushButton *m_addFiles, *m_addFolder, *m_remove, *m_random, *m_ok;
  QCheckBox* m_cut;
  QSpinBox* m_axis;
  QLabel* m_said;
  TableModel m_found;
  bool m_wasRead = false;  ///< whether the values at the beginning were read
};

}  // namespace fusescope
