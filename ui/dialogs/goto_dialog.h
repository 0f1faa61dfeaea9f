#pragma once

#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <functional>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Goes to anything whose name contains the typed text: nodes, tensors, segments, and the window's own actions.
class GotoDialog : public QDialog {
  Q_OBJECT

 public:
  GotoDialog(const DockContext& context, QList<QAction*> actions, QWidget* parent = nullptr);
  void setText(const QString& text) { m_text->setText(text); }
  int resultCount() const { return m_results->count(); }

  /// Adds a result; `action` is below 0 for a result that is not an action. Returns false if there are enough of those.
  using Add = std::function<bool(const QString& label, const QString& name, int action)>;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void find();
  void addAction(int index, const Add& add);
  void choose();

  DockContext m_context;
  QList<QAction*> m_actions;
  QLineEdit* m_text;
  QListWidget* m_results;
};

}  // namespace fusescope
