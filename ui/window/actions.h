#pragma once

#include <QAction>
#include <QList>
#include <QObject>
#include <functional>
#include <vector>

#include "ui/docks/copy_command.h"
#include "ui/theme/theme.h"

class QMenu;
class QMenuBar;

namespace fusescope {

class MainWindow;

/// The group of the tool bar with the button for an action.
enum class ToolGroup { None, Document, Run, Canvas, Window };

/// One thing that the window can do, wherever it is offered: in menus, the tool bar, "go to anything", and the list of
/// keys.
struct ActionForm {
  const char* name;  ///< "build": the name for docks and tests
  const char* menu;  ///< "&File", or "&View/&Ribbon" for a submenu; menus are ordered by their first occurrence
  const char* text;
  const char* keys = "";  ///< "Ctrl+P; Ctrl+Shift+P"
  const char* icon = "";  ///< the name of a file in resources/icons
  void (*act)(MainWindow& window) = nullptr;
  /// Returns why it cannot be done now; empty if it can. Null: it always can. It must be fast.
  QString (*refusal)(MainWindow& window) = nullptr;
  QString (*label)(MainWindow& window) = nullptr;           ///< replaces `text` if that changes
  bool (*checked)(MainWindow& window) = nullptr;            ///< for an action that is on or off: returns whether it is
                                                            ///< on
  void (*fill)(MainWindow& window, QMenu& menu) = nullptr;  ///< fills a submenu when it opens; `act` is then null
  ToolGroup tool = ToolGroup::None;
  const char* toolText = "";  ///< the text beside the icon in the tool bar
  bool beginsGroup = false;   ///< a separator is above it in its menu
  CommandWork (*command)(const DockContext& context) =
      nullptr;  ///< the command that does the same; null: there is none
};
/// Returns all actions of actions.inc.
const std::vector<ActionForm>& actionForms();

/// The actions of one window, and its menus. GUI thread only.
class Actions : public QObject {
  Q_OBJECT

 public:
  /// Fills `menus`, the menu bar of `window`. `context` returns what copied commands are made of.
  Actions(MainWindow& window, QMenuBar& menus, std::function<DockContext()> context);
  /// Returns null if there is none of that name.
  QAction* find(const QString& name) const;
  QMenu* menu(const char* title);  ///< of the menu bar; it is created if necessary
  QList<QAction*> ofTool(ToolGroup group) const;
  /// Adds an action that is not in the table, such as one of a dock.
  void add(QAction* action) { m_all << action; }
  /// Returns all actions that can be triggered: those of the table, and added ones.
  const QList<QAction*>& all() const { return m_all; }
  /// Updates for every action whether it can be done.
  void refresh();
  void setTheme(const Theme& theme);

 private:
  void make(const ActionForm& form);
  /// Makes the entry "Copy as command: Build this plan" for "go to anything". The menus have one entry for all
  /// commands.
  void makeCopy(const ActionForm& form);

  MainWindow& m_window;
  QMenuBar& m_menus;
  const std::function<DockContext()> m_context;
  QList<QAction*> m_all;
  QList<QAction*> m_ofForm;  ///< in the order of actionForms(); null for a menu
};

}  // namespace fusescope
