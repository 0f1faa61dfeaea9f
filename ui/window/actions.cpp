#include "ui/window/actions.h"

#include <QMenu>
#include <QMenuBar>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

QString latinText(const char* latin) {
  return QString::fromUtf8(latin);
}

/// Returns the menu with this title in a menu bar or in a menu, and makes it if it does not exist.
template <class In>
QMenu* menuIn(In& in, const QString& title) {
  for (QAction* entry : in.actions())
    if (entry->text() == title) return entry->menu();
  QMenu* menu = in.addMenu(title);
  menu->setToolTipsVisible(true);
  return menu;
}

QString toolTipOf(const QAction& action) {
  const QString keys = action.shortcut().toString(QKeySequence::NativeText);
  return tipText(action.text().remove(QLatin1Char('&')) +
                 (keys.isEmpty() ? QString() : QStringLiteral("  (%1)").arg(keys)));
}

}  // namespace

Actions::Actions(MainWindow& window, QMenuBar& menus, std::function<DockContext()> context)
    : QObject(menus.window()), m_window(window), m_menus(menus), m_context(std::move(context)) {
  for (const ActionForm& form : actionForms()) make(form);
}

QMenu* Actions::menu(const char* title) {
  const QStringList steps = latinText(title).split(QLatin1Char('/'));
  QMenu* menu = menuIn(m_menus, steps.front());
  for (const QString& step : steps.mid(1)) menu = menuIn(*menu, step);
  return menu;
}

void Actions::make(const ActionForm& form) {
  QMenu* in = menu(form.menu);
  if (form.beginsGroup) in->addSeparator();
  if (form.fill != nullptr) {
    QMenu* filled = in->addMenu(latinText(form.text));
    filled->setToolTipsVisible(true);
    connect(filled, &QMenu::aboutToShow, this, [this, filled, &form] {
      filled->clear();
      form.fill(m_window, *filled);
    });
    m_ofForm << nullptr;
    return;
  }
  QAction* action = in->addAction(latinText(form.text));
  action->setObjectName(latinText(form.name));
  action->setShortcuts(QKeySequence::listFromString(latinText(form.keys)));
  if (*form.toolText != '\0') action->setIconText(latinText(form.toolText));
  action->setToolTip(toolTipOf(*action));
  action->setCheckable(form.checked != nullptr);
  connect(action, &QAction::triggered, this, [this, &form, action] {
    form.act(m_window);
    if (form.checked != nullptr) action->setChecked(form.checked(m_window));
  });
  m_ofForm << action;
  m_all << action;
  if (form.command != nullptr) makeCopy(form);
}

void Actions::makeCopy(const ActionForm& form) {
  auto* copy = new QAction(QStringLiteral("Copy as command: ") + latinText(form.text).remove(QLatin1Char('&')), this);
  copy->setObjectName(QStringLiteral("copy:") + latinText(form.name));
  connect(copy, &QAction::triggered, this, [this, &form] {
    const DockContext context = m_context();
    copyCommand(context, *m_menus.window(), form.command(context));
  });
  m_all << copy;
}

QAction* Actions::find(const QString& name) const {
  for (QAction* action : m_ofForm)
    if (action != nullptr && action->objectName() == name) return action;
  return nullptr;
}

QList<QAction*> Actions::ofTool(ToolGroup group) const {
  QList<QAction*> found;
  for (int i = 0; i < m_ofForm.size(); ++i)
    if (m_ofForm[i] != nullptr && actionForms()[static_cast<std::size_t>(i)].tool == group) found << m_ofForm[i];
  return found;
}

void Actions::refresh() {
  for (int i = 0; i < m_ofForm.size(); ++i) {
    const ActionForm& form = actionForms()[static_cast<std::size_t>(i)];
    QAction* action = m_ofForm[i];
    if (action == nullptr) continue;
    if (form.label != nullptr) action->setText(form.label(m_window));
    if (form.checked != nullptr) action->setChecked(form.checked(m_window));
    if (form.refusal == nullptr) continue;
    const QString refusal = form.refusal(m_window);
    action->setEnabled(refusal.isEmpty());
    action->setData(refusal);  // as plain text, for GotoDialog
    action->setToolTip(refusal.isEmpty() ? toolTipOf(*action) : tipText(refusal));
  }
}

void Actions::setTheme(const Theme& theme) {
  for (int i = 0; i < m_ofForm.size(); ++i) {
    const char* icon = actionForms()[static_cast<std::size_t>(i)].icon;
    if (m_ofForm[i] != nullptr && *icon != '\0') m_ofForm[i]->setIcon(themedIcon(latinText(icon), theme));
  }
}

}  // namespace fusescope
