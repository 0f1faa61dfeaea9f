#pragma once

#include <QAction>
#include <QList>
#include <QObject>
#include <vector>

#include "ui/docks/copy_command.h"
#include "ui/theme/theme.h"

class QMenu;

namespace fusescope {

class MainWindow;

/// Where the tool bar has a button for an action.
enum class ToolGroup { None, Document, Run, Canvas, Window };

/// One thing that the window can do, wherever it is offered: in menus, the tool bar, "go to anything", the list of
/// keys.
struct ActionForm {
  const char* name;  ///< "build": what docks and tests call it
  const char* menu;  ///< "&File", or "&View/&Ribbon" in it; menus stand in the order in which they first occur
  const char* text;
  const char* keys = "";  ///< "Ctrl+P; Ctrl+Shift+P"
  const char* icon = "";  ///< of resources/icons
  void (*act)(MainWindow& window) = nullptr;
  /// Why it cannot be done now; empty: it can. Null: it always can. Must be quick.
  QString (*refusal)(MainWindow& window) = nullptr;
  QString (*label)(MainWindow& window) = nullptr;           ///< in place of `text`, where that changes
  bool (*checked)(MainWindow& window) = nullptr;            ///< of what is on or off: whether it is on
  void (*fill)(MainWindow& window, QMenu& menu) = nullptr;  ///< a menu of its own, filled when it opens; without `act`
  ToolGroup tool = ToolGroup::None;
  const char* toolText = "";  ///< beside the icon in the tool bar
  bool beginsGroup = false;   ///< a line above it in its menu
  CommandWork (*command)(const DockContext& context) =
      nullptr;  ///< the command that does the same; null: there is none
};
/// All actions, as actions.inc lists them.
const std::vector<ActionForm>& actionForms();

/// The actions of one window, and its menus. GUI thread only.
class Actions : public QObject {
  Q_OBJECT

 public:
  explicit Actions(MainWindow& window);
  /// Null if there is none of that name.
  QAction* find(const QString& name) const;
  QMenu* menu(const char* title);  ///< of the menu bar; made if it is not there
  QList<QAction*> ofTool(ToolGroup group) const;
  /// An action that is not of the table: of a dock.
  void add(QAction* action) { m_all << action; }
  /// What can be triggered: of the table, and added.
  const QList<QAction*>& all() const { return m_all; }
  /// Asks every action anew whether it can be done.
  void refresh();
  void setTheme(const Theme& theme);

 private:
  void make(const ActionForm& form);
  /// "Copy as command: Build this plan", for "go to anything"; the menus have one entry for all.
  void makeCopy(const ActionForm& form);

  MainWindow& m_window;
  QList<QAction*> m_all;
  QList<QAction*> m_ofForm;  ///< as actionForms(); null for a menu
};

}  // namespace fusescope
