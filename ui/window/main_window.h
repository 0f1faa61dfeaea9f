#pragma once

#include <QActionGroup>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMessageBox>
#include <QStackedWidget>
#include <memory>

#include "ui/canvas/graph_view.h"
#include "ui/docks/build_dock.h"
#include "ui/docks/compare_dock.h"
#include "ui/docks/inspector_dock.h"
#include "ui/docks/layers_dock.h"
#include "ui/docks/outline_dock.h"
#include "ui/docks/profile_dock.h"
#include "ui/docks/validation_dock.h"
#include "ui/jobs/worker_client.h"
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
  BuildController& builds() { return *m_builds; }
  GraphView& canvas() { return *m_canvas; }
  OutlineDock& outline() { return *m_outline; }
  LayersDock& layers() { return *m_layers; }
  InspectorDock& inspector() { return *m_inspector; }
  ValidationDock& validation() { return *m_validation; }
  BuildDock& buildDock() { return *m_buildDock; }
  ProfileDock& profile() { return *m_profile; }
  CompareDock& compare() { return *m_compare; }

  /// "Outline", "Layers", …: brings it to the front. False: there is none of that name.
  bool showDock(const QString& name);
  QStringList dockNames() const;
  void setTheme(ThemeKind kind);
  /// The last problem that was shown to the user; empty if there was none.
  QString lastProblem() const { return m_lastProblem; }
  void openFile(const QString& path);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  DockContext context();
  void makeDocks();
  QDockWidget* addDock(const QString& name, QWidget* widget, Qt::DockWidgetArea area, const QKeySequence& key);
  void arrangeDocks();
  void makeActions();
  void makeFileMenu();
  void makeEditMenu();
  void makeViewMenu();
  void makeToolBar();
  void makeStatusBar();
  void connectDocument();
  void connectCanvas();
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
  void savePicture(const QString& extension);
  void exportCsv();
  void showKeys();
  void goToAnything();
  void openPatternDialog(const QString& pattern);
  void popUpNodeMenu(const QPoint& place);
  QString summaryOf(const QString& name) const;

  bool m_remember;
  ThemeKind m_theme;
  std::unique_ptr<JobRunner> m_jobs;
  std::unique_ptr<PlanDocument> m_document;
  std::unique_ptr<Selection> m_selection;
  std::unique_ptr<WorkerClient> m_worker;
  std::unique_ptr<BuildController> m_builds;
  QStackedWidget* m_pages;
  StartPage* m_start;
  GraphView* m_canvas;
  OutlineDock* m_outline;
  LayersDock* m_layers;
  InspectorDock* m_inspector;
  ValidationDock* m_validation;
  BuildDock* m_buildDock;
  ProfileDock* m_profile;
  CompareDock* m_compare;
  QList<QDockWidget*> m_docks;
  QList<QAction*> m_actions;
  QMenu* m_nodeMenu;
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
