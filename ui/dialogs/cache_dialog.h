#pragma once

#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>

#include "cache/disk_store.h"
#include "ui/docks/dock_context.h"
#include "ui/models/table_model.h"

namespace fusescope {

class HintStack;

/// Shows the stored answers of other compilers on disk, as `cache list` prints them, and performs `cache why` (for the
/// plan on screen), `verify`, `gc`, `export`, `import` and `clear`. The store is read off the GUI thread. F5 reads it
/// again.
class CacheDialog : public QDialog {
  Q_OBJECT

 public:
  explicit CacheDialog(const DockContext& context, QWidget* parent = nullptr);
  /// Columns: kind, what, bytes on disk, age, how long it took to make, how often it was found, how much time that
  /// saved.
  const TableModel& entries() const { return m_model; }
  QPushButton& button(const QString& objectName) { return *findChild<QPushButton*>(objectName); }
  QDoubleSpinBox& limit() { return *m_limit; }
  QString said() const { return m_said->text(); }
  /// Returns the folder, and the sums of all columns.
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
    std::string folder, problem, done;
    std::vector<StoreEntry> entries;
    std::vector<KindStatistics> kinds;
    std::int64_t bytes = 0, limit = 0;
  };
  using Work = std::function<Result<std::string>(DiskStore&)>;

  QWidget* makeButtons();
  void look(const Work& work);
  void show(const Contents& contents);
  void renewButtons();
  void clear();
  void sayWhy();
  QString whyNoAnswers() const;

  DockContext m_context;
  TableModel m_model;
  QTableView* m_view;
  HintStack* m_stack;
  QLabel *m_summary, *m_said;
  QDoubleSpinBox* m_limit;
  QPushButton *m_verify, *m_collect, *m_clear, *m_why, *m_export, *m_import;
};

}  // namespace fusescope
