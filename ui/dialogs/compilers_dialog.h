#pragma once

#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QTextBrowser>
#include <QTreeWidget>

#include "probe/found_environment.h"
#include "ui/docks/dock_context.h"
#include "ui/document/known_environments.h"

namespace fusescope {

/// Lists the environments in which compilers are searched for, what was found in each, and what to do about what is
/// missing. Insert adds one, Delete removes one, F5 examines them again.
class CompilersDialog : public QDialog {
  Q_OBJECT

 public:
  CompilersDialog(const DockContext& context, Environments& environments, QWidget* parent = nullptr);
  /// Returns the list of environments with the compilers of each below it. Columns: name, version, what was found.
  QTreeWidget& list() { return *m_list; }
  /// Returns the text about the current entry, as plain text.
  QString detail() const { return m_detail->toPlainText(); }
  QPushButton& button(const QString& objectName) { return *findChild<QPushButton*>(objectName); }

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* makeButtons();
  void makeList();
  void renew();
  void renewDetail();
  void addRows(const KnownEnvironment& known);
  void showAdded();
  /// Returns the environment of the current row, or the one that contains the current compiler; null if there is none.
  const KnownEnvironment* current() const;
  const FoundCompiler* currentCompiler() const;
  void addNew();
  void remove();
  void lookAgain();
  void confirm();
  void copy();

  DockContext m_context;
  Environments& m_environments;
  QTreeWidget* m_list;
  QTextBrowser* m_detail;
  QLabel* m_said;
  std::string m_added;  ///< the name of an environment that was added and is not listed yet; empty if there is none
  QPushButton *m_remove, *m_again, *m_confirm, *m_copy;
};

}  // namespace fusescope
