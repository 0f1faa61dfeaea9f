#pragma once

#include <QActionGroup>
#include <QComboBox>
#include <QHash>
#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QMessageBox>
#include <QShortcut>
#include <QStackedWidget>
#include <QTimer>
#include <memory>

#include "session/inputs/sample_source.h"
#include "ui/canvas/graph_view.h"
#include "ui/docks/dock.h"
#include "ui/document/background_builds.h"
#include "ui/document/known_plans.h"
#include "ui/document/selection_history.h"
#include "ui/document/session_keeper.h"
#include "ui/document/shown_made.h"
#include "ui/jobs/worker_client.h"
#include "ui/ribbon/ribbon.h"
#include "ui/window/actions.h"
#include "ui/window/file_kinds.h"
#include "ui/window/message_bar.h"
#include "ui/window/room.h"
#include "ui/window/start_page.h"

namespace fusescope {

class Environments;
class FactLine;
class TwoViews;
struct Recipe;

/// The window: the canvas in the middle, docks around it (Room), with one document and one selection.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `remember` stores the layout of docks and the theme between sessions. Tests and pictures do not use it.
  explicit MainWindow(ThemeKind theme, bool remember = true, QWidget* parent = nullptr);
  ~MainWindow() override;

  PlanDocument& document() { return *m_document; }
  Selection& selection() { return *m_selection; }
  SelectionHistory& history() { return *m_history; }
  JobRunner& jobs() { return *m_jobs; }
  WorkerClient& worker() { return *m_worker; }
  Runs& runs() { return *m_runs; }
  RunController& controller() { return *m_controller; }
  BackgroundBuilds& builds() { return *m_builds; }
  SessionKeeper& session() { return *m_session; }
  FileDiff& fileDiff() { return *m_fileDiff; }
  KnownPlans& knownPlans() { return *m_known; }
  MessageBar& messages() { return *m_messages; }
  GraphView& canvas() { return *m_canvas; }
  Ribbon& ribbon() { return *m_ribbon; }
  TwoViews& twoViews() { return *m_twoViews; }
  /// Returns the canvas, or one of the two views, which move together.
  GraphView& shownCanvas();
  Actions& actions() { return *m_actions; }
  /// Returns the dock of that class, which must be listed in docks.inc.
  template <class T>
  T& dock() {
    return *findChild<T*>();
  }

  /// Returns a dock by its name, "Outline", "Layers", …; null if there is none of that name.
  Dock* dockNamed(const QString& name) const;
  /// Brings a dock to the front. Returns false if there is none of that name.
  bool showDock(const QString& name);
  QStringList dockNames() const;
  Room& room() { return *m_room; }
  void setTheme(ThemeKind kind);
  void switchTheme();
  /// Returns the context for docks, dialogs and menus.
  DockContext context();
  /// Returns the last problem that was shown to the user; empty if there was none.
  QString lastProblem() const { return m_lastProblem; }
  /// Opens a file. A model, plan, engine or session replaces what is open, after a question about unsaved work; inputs
  /// and directives are applied to what is open. A bundled sample includes inputs. Returns false if the user chose to
  /// keep what is open.
  bool openFile(const QString& path);
  /// Opens files that were dropped, like openFile(), except that an engine beside an open model becomes a run to
  /// compare, and files for a model wait until that is open.
  void dropFiles(const QStringList& paths);
  /// Shrinks the window to at most the size `screen`.
  void fitInto(const QSize& screen);
  /// Sets the inputs for timing and evaluating runs from now on.
  void setInputs(const SampleSource& inputs);
  /// Saves the session automatically in `folder`, and offers sessions that a killed window left there.
  void keepSessionsIn(const QString& folder);

  // The functions of actions (actions.inc).
  void chooseFile();
  /// Saves the session; `as` asks for another name. Returns false if it was not saved.
  bool saveSession(bool as);
  void openDirectives();
  /// Asks for files of a TensorRT engine, and opens them as if they were dropped.
  void openEngineFiles();
  void saveDirectives();
  void exportPlan();
  void savePicture(const QString& extension);
  void exportCsv();
  void openPatternDialog(const QString& pattern);
  void openTruncationDialog();
  /// Returns why there is nothing to truncate; empty if there may be.
  QString truncationRefusal() const;
  void focusSearch();
  void goToAnything();
  void editInputs();
  void calibrate();
  void tune();
  void bisect();
  /// Asks for the file with which the displayed plan is compared.
  void compareWithFile();
  /// Shows our plan beside what the compiler made of it, in two views.
  void compareWithPrediction();
  /// Returns why there is no such pair; empty if there is.
  QString predictionRefusal() const;
  /// Shows the dialog of environments and their compilers.
  void showCompilers();
  void showCache();
  /// Passes the environments that options and runs of the session use, with their commands, to environments().
  void findEnvironmentsOfSession();
  Environments& environments() { return *m_environments; }
  /// Sets other environments, for tests.
  void setEnvironments(std::unique_ptr<Environments> environments);
  /// Measures errors layer by layer and colours the canvas by them.
  void evaluateErrors();
  /// Shows two plans in the centre, or the canvas.
  void showTwoViews(bool shown);
  /// Shows the network of the file beside the displayed plan.
  void showOriginal();
  bool showsTwoViews() const;
  /// Returns where the displayed run first becomes wrong in the displayed plan: a node, or a value without a producer;
  /// empty: no error is known.
  QString firstWrong() const;
  void goToFirstWrong();
  void editRunSettings();
  void addEngines();
  /// Opens the context menu of the widget with the focus, for its selection, as the Menu key does.
  void popUpMenuOfFocus();
  void showKeys();
  void showRibbon(bool shown);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;  ///< watches the search field and the actions of docks

 private:
  void makeDocks();
  /// Makes the action that brings the dock to the front, or folds it if it is in front. Its key folds the dock only if
  /// the dock has the focus.
  QAction* dockAction(Dock* dock, const DockForm& form);
  void focusDock(Dock* dock);
  void offerDocks(bool open);  ///< beside the start page, there are no docks
  /// Asks whether the current work should be cancelled, and cancels it if this was asked a moment ago.
  void cancelWork();
  /// Shows what is being done, or its result, in the title of the runs and in the status bar.
  void showActivity();
  /// Removes the mark of the runs' dock when the user looks at it.
  void clearSeenMark();
  void makeActions();
  void makeKeys();
  void makeToolBar();
  void makeChoices();
  void makeStatusBar();
  void connectDocument();
  void connectCanvas();
  void connectSession();
  /// Reads the model again, and once it is there refits the engine of the run `former` with its weights.
  void reloadAndRefit(const std::string& former);
  void connectTwoViews();
  /// Asks what to do with a session that is not saved. Returns false if the user cancels.
  bool mayLeave();
  void refreshTitle();
  Json viewState() const;
  void restoreView(const Json& view);
  void offerLeft();
  /// Shows a menu of all sessions that were left.
  void chooseLeft();
  void recover(const QString& session);
  void fitSearch();
  void addEngines(const QStringList& paths);
  /// Finds inputs that are stored beside the opened model. Those of a bundled sample are used; others are offered.
  void findInputsBesideModel();
  void modelOpened();
  void showRoom();  ///< instead of the start page
  void planArrived();
  void refreshTimes();
  void refreshSummary();
  void refreshPrecisions();
  void showSelectionOnCanvas(const QObject* source);
  void showProblem(const QString& title, const QString& problem);
  void openDirectives(const QString& path);
  void takeRecipe(const Recipe& recipe);
  bool openFound(const FoundFile& file);
  bool openForModel(const FoundFile& file);
  /// Opens a file that takes the place of what is open; `others`, which are for it, once that is there.
  bool openInPlace(const FoundFile& file, std::vector<FoundFile> others);
  /// Returns whether the file lists the layers of another engine than the one whose layers are the open network; such a
  /// file is another network.
  bool isOtherNetwork(const FoundFile& file) const;
  void takeDropped(const std::vector<FoundFile>& files);
  /// Does the same for files none of which replaces the open network.
  void takeForModel(const std::vector<FoundFile>& files);
  void popUpNodeMenu(const QPoint& place);
  QString summaryOf(const QString& name) const;

  bool m_remember;
  ThemeKind m_theme;
  std::unique_ptr<JobRunner> m_jobs;
  std::unique_ptr<PlanDocument> m_document;
  std::unique_ptr<Selection> m_selection;
  std::unique_ptr<SelectionHistory> m_history;
  std::unique_ptr<WorkerClient> m_worker;
  std::unique_ptr<Runs> m_runs;
  std::unique_ptr<RunController> m_controller;
  std::unique_ptr<WorkerClient> m_builder;  ///< the process for background builds
  std::unique_ptr<BackgroundBuilds> m_builds;
  std::unique_ptr<SessionKeeper> m_session;
  std::unique_ptr<FileDiff> m_fileDiff;
  std::unique_ptr<KnownPlans> m_known;
  std::unique_ptr<ShownMade> m_made;
  std::unique_ptr<Environments> m_environments;
  QStackedWidget* m_pages;  ///< the open model, or the start page
  QStackedWidget* m_views;  ///< the canvas, or the two views of a comparison
  StartPage* m_start;
  GraphView* m_canvas;
  Ribbon* m_ribbon;
  TwoViews* m_twoViews;
  MessageBar* m_messages;
  Room* m_room;
  QList<Dock*> m_docks;                   ///< in the order of dockForms()
  QHash<const QObject*, Dock*> m_dockOf;  ///< by the action that shows it
  Actions* m_actions;
  bool m_working = false;  ///< whether the controller was busy when it was last checked
  QShortcut* m_escape;     ///< active while something is opened or planned
  QTimer m_cancelAsked;    ///< while it runs, another Escape cancels the current work
  struct {
    QString with;
    std::vector<FoundFile> files;
  } m_dropped;  ///< `files` wait until `with`, a model or session that was opened together with them, has been opened
  QComboBox* m_target;
  QComboBox* m_precision;
  QComboBox* m_color;
  QLineEdit* m_search;
  QLabel* m_searchCount;
  QLabel* m_status;
  FactLine* m_fact;
  QLabel* m_work;
  QLabel* m_activity;  ///< the activity of the worker
  QString m_lastProblem;
};

}  // namespace fusescope
