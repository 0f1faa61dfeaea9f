#pragma once

#include <QLabel>
#include <QMenu>
#include <QTimer>
#include <QWidgetAction>
#include <map>

#include "ui/docks/dock_context.h"

namespace fusescope {

/// Shows at the foot of a menu how the highlighted entry would change the plan, before it is chosen. That plan is made
/// off the GUI thread. The menu owns this object. GUI thread only.
class EditPreview : public QObject {
  Q_OBJECT

 public:
  EditPreview(QMenu& menu, const DockContext& context);
  /// Says that choosing `action` sets the directives `changed`.
  void add(QAction* action, Directives changed);
  /// Adds the foot below the present entries of the menu.
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
  QTimer m_wait;  ///< runs until the cursor rests
  std::map<QAction*, Directives> m_changed;
};

/// Returns the effect of an edit for people: time, kernels and conversions beside those of `now`, and what is refused.
QString previewText(const PlanSnapshot& now, const PlanSnapshot& tried);

}  // namespace fusescope
