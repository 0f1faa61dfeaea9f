#pragma once

#include <QActionGroup>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMessageBox>
#include <QShortcut>
#include <QStackedWidget>
#include <memory>

#include "ui/canvas/graph_view.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/docks/profile_dock.h"
#include "ui/docks/runs_dock.h"
#include "ui/docks/validation_dock.h"
#include "ui/document/session_keeper.h"
#include "ui/jobs/worker_client.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/message_bar.h"
#include "ui/window/start_page.h"

namespace fusescope {

/// The window: the canvas in the middle, docks around it, one document and one selection for all of them.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `remember`: keep the layout of docks and the theme between runs. Tests and pictures do not.
  explicit MainWindow(ThemeKind theme, bool remember = true, QWidget* parent = nullptr);
  ~MainWindow() override;

  PlanDocument& document() { return *m_document; }
  Selection& selection() { return *m_selection; }
  JobRunner& jobs() { return *m_jobs; }
  WorkerClient& worker() { return *m_worker; }
  Runs& runs() { return *m_runs; }
  RunController& controller() { return *m_controller; }
  SessionKeeper& session() { return *m_session; }
  MessageBar& messages() { return *m_messages; }
  GraphView& canvas() { return *m_canvas; }
  OutlineDock& outline() { return *m_outline; }
  LayersDock& layers() { return *m_layers; }
  InspectorDock& inspector() { return *m_inspector; }
  ValidationDock& validation() { return *m_validation; }
  RunsDock& runsDock() { return *m_runsDock; }
  ProfileDock& profile() { return *m_profile; }
  CompareDock& compare() { return *m_compare; }

  /// "Outline", "Layers", …: brings it to the front. False: there is none of that name.
  bool showDock(const QString& name);
  QStringList dockNames() const;
  void setTheme(ThemeKind kind);
  /// The last problem that was shown to the user; empty if there was none.
  QString lastProblem() const { return m_lastProblem; }
  /// A model, plan, engine or session takes the place of what is open, after asking about what is not saved; inputs and
  /// directives are for what is open.
  /// False: the user stays with what is open.
  bool openFile(const QString& path);
  /// Files that were dropped: as openFile(), but an engine beside what is open is a run to compare, and what is for a
  /// model waits until that is open.
  void dropFiles(const QStringList& paths);
  /// Makes the window no larger than `screen`.
  void fitInto(const QSize& screen);
  /// Keeps the session in `folder`, and offers what was left there by a window that was killed.
  void keepSessionsIn(const QString& folder);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;  ///< of the search box

 private:
  DockContext context();
  void makeDocks();
  QDockWidget* addDock(const QString& name, QWidget* widget, Qt::DockWidgetArea area, const QKeySequence& key);
  void arrangeDocks();
  /// Brings the dock to the front, or hides it if it is there.
  QAction* dockAction(QDockWidget* dock);
  void makeActions();
  void makeKeys();
  void makeFileMenu();
  void makeEditMenu();
  void makeViewMenu();
  void makeToolBar();
  void makeStatusBar();
  void connectDocument();
  void connectCanvas();
  void connectSession();
  /// Asks what to do with a session that is not saved. False: the user stays.
  bool mayLeave();
  bool saveSession(bool as);
  void refreshTitle();
  Json viewState() const;
  void restoreView(const Json& view);
  void offerLeft();
  void editRunSettings();
  void addEngines();
  void addEngines(const QStringList& paths);
  QAction* addAction(QMenu* menu, const QString& text, const QKeySequence& key, std::function<void()> act,
                     const QString& icon = {});
  void refreshIcons();
  void modelOpened();
  void planArrived();
  void refreshTimes();
  void refreshSummary();
  void showSelectionOnCanvas(const QObject* source);
  void showProblem(const QString& title, const QString& problem);
  void chooseFile();
  void saveDirectives();
  void openDirectives();
  void openDirectives(const QString& path);
  void savePicture(const QString& extension);
  void exportCsv();
  void showKeys();
  void goToAnything();
  void openPatternDialog(const QString& pattern);
  void popUpNodeMenu(const QPoint& place);
  /// What the Menu key does: the context menu of whatever has the focus, at what is selected there.
  void popUpMenuOfFocus();
  QString summaryOf(const QString& name) const;

  bool m_remember;
  ThemeKind m_theme;
  std::unique_ptr<JobRunner> m_jobs;
  std::unique_ptr<PlanDocument> m_document;
  std::unique_ptr<Selection> m_selection;
  std::unique_ptr<WorkerClient> m_worker;
  std::unique_ptr<Runs> m_runs;
  std::unique_ptr<RunController> m_controller;
  std::unique_ptr<SessionKeeper> m_session;
  QStackedWidget* m_pages;
  StartPage* m_start;
  GraphView* m_canvas;
  OutlineDock* m_outline;
  LayersDock* m_layers;
  InspectorDock* m_inspector;
  ValidationDock* m_validation;
  RunsDock* m_runsDock;
  MessageBar* m_messages;
  ProfileDock* m_profile;
  CompareDock* m_compare;
  QList<QDockWidget*> m_docks;
  QList<QAction*> m_actions;
  QMenu* m_nodeMenu;
  DockSizes* m_dockSizes;
  QShortcut* m_escape;    ///< while something is opened or planned
  QStringList m_dropped;  ///< waits for the model that was dropped with it
  QComboBox* m_target;
  QComboBox* m_precision;
  QComboBox* m_color;
  QLineEdit* m_search;
  QLabel* m_searchCount;
  QLabel* m_status;
  QLabel* m_work;
  QString m_lastProblem;
};

}  // namespace fusescope
