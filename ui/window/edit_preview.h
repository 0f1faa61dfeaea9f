#pragma once

#include <QLabel>
#include <QMenu>
#include <QTimer>
#include <QWidgetAction>
#include <map>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Says at the foot of a menu what the entry that is highlighted would change in the plan, before it is chosen: that
/// plan is made off the GUI thread. The menu owns it. GUI thread only.
class EditPreview : public QObject {
  Q_OBJECT

 public:
  EditPreview(QMenu& menu, const DockContext& context);
  /// Choosing `action` makes the directives `changed`.
  void add(QAction* action, Directives changed);
  /// Puts the foot below the entries that the menu has by now.
  void finish();
  QString text() const { return m_label->text(); }

 private:
  void ask(QAction* action);
  void say(const QString& text);
  void answer(const QString& entry, const Result<std::shared_ptr<const PlanSnapshot>>& tried);

  QMenu& m_menu;
  DockContext m_context;
  QLabel* m_label;
  QWidgetAction* m_foot;
  QAction* m_asked = nullptr;
  QTimer m_wait;  ///< until the cursor rests
  std::map<QAction*, Directives> m_changed;
};

/// What trying an edit has shown, for people: time, kernels and conversions beside those of `now`, and what is refused.
QString previewText(const PlanSnapshot& now, const PlanSnapshot& tried);

}  // namespace fusescope
