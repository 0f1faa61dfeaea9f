#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <functional>
#include <memory>

#include "session/artifact.h"
#include "session/open_model.h"
#include "session/session_file.h"
#include "ui/document/directive_edits.h"
#include "ui/document/plan_snapshot.h"

namespace fusescope {

class Compiler;
class Graph;
class JobRunner;

/// The only mutable state of the window: a model, its options and directives, and the plan that they give. Views read
/// it and call its edits. Each edit is one command on the undo stack, and is answered by planChanged() or planFailed()
/// when planning, which runs on another thread, is done. It is used on the GUI thread and never blocks.
class PlanDocument : public QObject {
  Q_OBJECT

 public:
  explicit PlanDocument(JobRunner& jobs, QObject* parent = nullptr);

  std::shared_ptr<const Model> model() const { return m_model; }
  /// Returns the latest plan, and what is displayed of it; null without a model. During planning() it is the plan of
  /// the previous options.
  std::shared_ptr<const PlanSnapshot> snapshot() const { return m_snapshot; }
  /// Returns the options. What a compiler says about nodes is not part of them, but of the plan.
  const PlanOptions& options() const { return m_options; }
  const Directives& directives() const { return m_options.directives; }
  /// Returns the ranges for int8: those of the options, or else those of the last calibration in the session. Null:
  /// none.
  std::shared_ptr<const Ranges> ranges() const { return m_options.ranges ? m_options.ranges : m_calibrated; }
  /// Returns the ranges of the last calibration. Setting them is not an edit: the plan does not change.
  std::shared_ptr<const Ranges> calibrated() const { return m_calibrated; }
  void setCalibrated(std::shared_ptr<const Ranges> ranges);
  /// Returns the extents of the model's inputs that the user gave.
  const std::vector<InputOverride>& inputs() const { return m_inputs; }
  QString path() const { return m_path; }
  /// Returns the kind of the file path().
  ArtifactKind kind() const { return m_kind; }
  /// Returns the files of the model as they were read: for a plan those of its model, for an engine the engine file.
  const ModelFile& modelFile() const { return m_modelFile; }
  bool planning() const { return m_planning; }
  bool opening() const { return m_opening; }
  /// Returns why the present options have no plan; empty if they have one.
  const QString& planProblem() const { return m_planProblem; }
  QUndoStack& undoStack() { return m_undo; }
  const QUndoStack& undoStack() const { return m_undo; }
  /// Returns the options before the edit that undo would revert; nothing if there is none.
  std::optional<PlanOptions> optionsBeforeLastEdit() const;

  /// Opens a model, plan or engine file. Until that succeeds, everything stays as it was. A directive that does not
  /// apply is an error, unless `whatApplies` is set: it is then omitted, and optionsDropped() says so.
  void open(const QString& path, const PlanOptions& options = {}, const std::vector<InputOverride>& inputs = {},
            bool whatApplies = false);
  /// Opens the same file again, and keeps the undo stack and the options that still apply.
  void reload();
  void cancelOpening();
  /// Undoes the edits since the displayed plan was made; redo restores them.
  void cancelPlanning();

  // Edits. Each is one undo step; an edit that changes nothing leaves no step. Nodes are named as in directives.
  /// Changes the options. ranges() are added with the first request for int8, and removed with the last.
  void edit(const QString& text, PlanOptions changed);
  void editDirectives(const QString& text, Directives changed);
  void setTarget(const std::string& target);
  /// Sets the compiler. If it has a target of its own, the network is planned for that target.
  void setCompiler(const Compiler& compiler);
  void setPrecisions(std::vector<DataType> precisions);
  void pin(const std::vector<std::string>& names, DataType type, Strictness strictness);
  void pinOutput(const std::vector<std::string>& names, DataType type, Strictness strictness);
  /// Adds a directive of a kind that needs only a node, and possibly a fusion rule, for each of the nodes.
  void direct(const std::vector<std::string>& names, DirectiveKind kind, const std::string& rule = {});
  void clearDirectives(const std::vector<std::string>& names);
  std::vector<std::string> namesOf(const std::vector<NodeId>& nodes) const;

  /// Plans with other directives without an edit. `done` receives the plan, with its delta from the displayed plan, or
  /// why there is none. It is made on another thread; a newer call replaces it, and `done` is then not called.
  using Tried = std::function<void(const Result<std::shared_ptr<const PlanSnapshot>>&)>;
  void tryDirectives(Directives changed, QObject* receiver, Tried done);
  void cancelTry();

  /// Displays what another compiler made of the displayed plan, once its snapshot is made; null displays the plan
  /// again, at once. What was made of another model is ignored. The next plan is displayed as planned.
  void showMade(std::shared_ptr<const ReadBackPlan> made);

  /// Returns recently opened files that still exist, the latest first.
  static QStringList recentFiles();
  /// Puts a file that was opened or saved at the head of that list.
  static void remember(const QString& path);

 signals:
  void openingStarted(const QString& path);
  void openingPhase(const QString& phase);
  void openingCancelled();  ///< before openingEnded()
  void openingEnded();
  void openFailed(const QString& path, const QString& problem);
  void optionsDropped(const QStringList& directives);  ///< before modelChanged(): "pin n to f32: why"
  /// Ids of the graph `before` are invalid now, and no signal about the new snapshot was sent yet, so that receivers
  /// can find their nodes by name in the new graph. Null: it is a graph of another model, and kept ids must be dropped.
  void graphChanged(const Graph* before);
  void modelChanged();  ///< before planChanged()
  /// The file contains an engine that was built elsewhere, which is this run. Emitted after planChanged().
  void engineOpened(const Run& run);
  void optionsChanged();  ///< the plan for them is being made
  void calibratedChanged();
  void planChanged();  ///< another plan, or something else of it is displayed
  void planFailed(const QString& problem);

 private:
  friend class ChangeOptions;
  void setOptions(const PlanOptions& options);
  void replan();
  void keepPlan();
  /// `snapshot` must belong to the open model.
  void show(std::shared_ptr<const PlanSnapshot> snapshot);

  JobRunner& m_jobs;
  QUndoStack m_undo;
  QString m_path;
  ArtifactKind m_kind = ArtifactKind::Model;
  ModelFile m_modelFile;
  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::shared_ptr<const PlanSnapshot> m_planned;  ///< the snapshot of the same plan without a read-back plan
  PlanOptions m_options;
  std::shared_ptr<const Ranges> m_calibrated;
  std::vector<InputOverride> m_inputs;
  bool m_planning = false;
  int m_plannedIndex = 0;  ///< the index of the undo stack when the newest plan arrived
  bool m_opening = false;
  QString m_planProblem;
};

}  // namespace fusescope
