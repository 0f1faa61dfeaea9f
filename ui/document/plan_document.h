#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <functional>
#include <memory>

#include "session/session.h"
#include "session/session_file.h"
#include "ui/document/directive_edits.h"
#include "ui/document/plan_snapshot.h"

namespace fusescope {

class Compiler;
class JobRunner;

/// The only mutable state of the window: a model, the wishes for it, and the plan they make. Views read it and call its
/// edits; each edit is one command on the undo stack, and is answered by planChanged() or planFailed() when the
/// planning, which runs elsewhere, is through. Lives in the GUI thread and never waits.
class PlanDocument : public QObject {
  Q_OBJECT

 public:
  explicit PlanDocument(JobRunner& jobs, QObject* parent = nullptr);

  std::shared_ptr<const Model> model() const { return m_model; }
  /// The newest plan there is, and what is shown of it; null without a model. While planning() it is that of the
  /// options before.
  std::shared_ptr<const PlanSnapshot> snapshot() const { return m_snapshot; }
  /// What is wished of the model. What a compiler says of its nodes is an answer: the plan has it.
  const PlanOptions& options() const { return m_options; }
  const Directives& directives() const { return m_options.directives; }
  /// What int8 can be had by: the ranges of the options, else what the session was calibrated with last. Null: nothing.
  std::shared_ptr<const Ranges> ranges() const { return m_options.ranges ? m_options.ranges : m_calibrated; }
  /// The latter. That is no edit: the plan stays as it is.
  std::shared_ptr<const Ranges> calibrated() const { return m_calibrated; }
  void setCalibrated(std::shared_ptr<const Ranges> ranges);
  /// Extents of the model's inputs that the user gave.
  const std::vector<InputOverride>& inputs() const { return m_inputs; }
  QString path() const { return m_path; }
  /// What kind of file path() is.
  ArtifactKind kind() const { return m_kind; }
  /// The files of the model, as they were read: of a plan the model behind it, of an engine the engine.
  const ModelFile& modelFile() const { return m_modelFile; }
  bool planning() const { return m_planning; }
  bool opening() const { return m_opening; }
  /// Why the present options have no plan; empty if they have one.
  const QString& planProblem() const { return m_planProblem; }
  QUndoStack& undoStack() { return m_undo; }
  const QUndoStack& undoStack() const { return m_undo; }
  /// What was wished before the edit that undo takes back; nothing: there is none.
  std::optional<PlanOptions> optionsBeforeLastEdit() const;

  /// Opens a model, plan or engine file. Until it is open, and if it cannot be, everything stays as it was. A directive
  /// that does not apply makes it an error, unless `whatApplies`: then it is left out, and optionsDropped() says so.
  void open(const QString& path, const PlanOptions& options = {}, const std::vector<InputOverride>& inputs = {},
            bool whatApplies = false);
  /// Opens the same file again, keeping what still applies of what is wished of it, and the undo stack.
  void reload();
  void cancelOpening();
  /// Takes back what was edited since the plan on screen was made, which redo brings again.
  void cancelPlanning();

  // Edits. Each is one undo step; one that changes nothing leaves none. Nodes are named as directives name them.
  /// ranges() go into the options with the first that asks for int8, and out of them with the last.
  void edit(const QString& text, PlanOptions changed);
  void editDirectives(const QString& text, Directives changed);
  void setTarget(const std::string& target);
  /// What is to compile the network. Of a compiler that has a target of its own the network is planned for that.
  void setCompiler(const Compiler& compiler);
  void setPrecisions(std::vector<DataType> precisions);
  void pin(const std::vector<std::string>& names, DataType type, Strictness strictness);
  void pinOutput(const std::vector<std::string>& names, DataType type, Strictness strictness);
  /// A directive for each of the nodes, of a kind that takes nothing but a node, or a fusion rule as well.
  void direct(const std::vector<std::string>& names, DirectiveKind kind, const std::string& rule = {});
  void clearDirectives(const std::vector<std::string>& names);
  std::vector<std::string> namesOf(const std::vector<NodeId>& nodes) const;

  /// The plan of other directives, which nobody decided for yet: `done` gets it, with its delta from the plan on
  /// screen, or why there is none. It is made elsewhere; a newer one replaces it, and then `done` is not called.
  using Tried = std::function<void(const Result<std::shared_ptr<const PlanSnapshot>>&)>;
  void tryDirectives(Directives changed, QObject* receiver, Tried done);
  void cancelTry();

  /// Shows what another compiler made of the plan on screen, once its snapshot is made; null: the plan again, at once.
  /// What was made of another model is not shown. The next plan is shown as it is planned.
  void showMade(std::shared_ptr<const ReadBackPlan> made);

  /// Recently opened files that still exist, newest first.
  static QStringList recentFiles();
  /// Puts a file that was opened or saved at the head of them.
  static void remember(const QString& path);

 signals:
  void openingStarted(const QString& path);
  void openingPhase(const QString& phase);
  void openingCancelled();  ///< before openingEnded()
  void openingEnded();
  void openFailed(const QString& path, const QString& problem);
  void optionsDropped(const QStringList& directives);  ///< before modelChanged(): "pin n to f32: why"
  /// Ids of `before` mean nothing any more, and nobody has heard of the new snapshot yet: whoever keeps ids finds the
  /// nodes by their names in its graph. Null: it is of another model, and what was kept is to be dropped.
  void graphChanged(const Graph* before);
  void modelChanged();  ///< before planChanged()
  /// The file tells what an engine was made as, which others built: as a run. After planChanged().
  void engineOpened(const Run& run);
  void optionsChanged();  ///< the plan to them is under way
  void calibratedChanged();
  void planChanged();  ///< another plan, or what is shown of it is another
  void planFailed(const QString& problem);

 private:
  friend class ChangeOptions;
  void setOptions(const PlanOptions& options);
  void replan();
  void keepPlan();
  /// `snapshot` is of the model that is open.
  void show(std::shared_ptr<const PlanSnapshot> snapshot);

  JobRunner& m_jobs;
  QUndoStack m_undo;
  QString m_path;
  ArtifactKind m_kind = ArtifactKind::Model;
  ModelFile m_modelFile;
  std::shared_ptr<const Model> m_model;
  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::shared_ptr<const PlanSnapshot> m_planned;  ///< of the same plan, which it shows itself
  PlanOptions m_options;
  std::shared_ptr<const Ranges> m_calibrated;
  std::vector<InputOverride> m_inputs;
  bool m_planning = false;
  int m_plannedIndex = 0;  ///< of the undo stack, when the newest plan arrived
  bool m_opening = false;
  QString m_planProblem;
};

}  // namespace fusescope
