#pragma once

#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>

#include "cache/kept_contents.h"
#include "ui/docks/dock_context.h"
#include "ui/models/table_model.h"

namespace fusescope {

class HintStack;

/// Shows what is kept, as `cache list` prints it: the stored answers of other compilers on disk, the measured times and
/// the shared place. Performs `cache why` (for the plan on screen), `verify`, `gc`, `export`, `import` and `clear`.
/// Everything is read off the GUI thread. F5 reads it again.
class CacheDialog : public QDialog {
  Q_OBJECT

 public:
  explicit CacheDialog(const DockContext& context, QWidget* parent = nullptr);
  /// Columns: kind, what, bytes on disk, age, how long it took to make, how often it was found, how much time that
  /// saved, who made it.
  const TableModel& entries() const { return m_model; }
  QPushButton& button(const QString& objectName) { return *findChild<QPushButton*>(objectName); }
  QDoubleSpinBox& limit() { return *m_limit; }
  QString said() const { return m_said->text(); }
  /// Returns the folder and the sums of all columns, then a line for each kind, for the measured times and for the
  /// shared place.
  QString summary() const { return m_summary->text(); }
  bool working() const;
  /// Writes the entries that are valid on other machines into this file.
  void exportTo(const std::string& path);
  /// Adds the entries of such a file.
  void importFrom(const std::string& path);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// The contents of the store, or why they cannot be read, and what was done with the store before.
  struct Contents {
    KeptContents kept;
    std::string problem{}, done{};
  };
  using Work = std::function<Result<std::string>(DiskStore&)>;

  QWidget* makeButtons();
  void look(const Work& work);
  void show(const Contents& contents);
  void askShared();
  void renewSummary();
  void renewButtons();
  void clear();
  void sayWhy();
  QString whyNoAnswers() const;

  DockContext m_context;
  TableModel m_model;
  QString m_kept, m_shared;  ///< the lines of the summary: what is on this machine, and the shared place
  QTableView* m_view;
  HintStack* m_stack;
  QLabel *m_summary, *m_said;
  QDoubleSpinBox* m_limit;
  QPushButton *m_verify, *m_collect, *m_clear, *m_why, *m_export, *m_import;
};

}  // namespace fusescope
