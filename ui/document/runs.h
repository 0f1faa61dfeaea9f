#pragma once

#include <QObject>
#include <QString>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/runs/run.h"
#include "session/runs/run_plans.h"
#include "session/runs/verdict.h"
#include "session/session_file.h"
#include "ui/document/plan_document.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// Every run of the session, and the two that are displayed. It is used on the GUI thread; the RunController adds runs.
class Runs : public QObject {
  Q_OBJECT

 public:
  explicit Runs(PlanDocument& document, QObject* parent = nullptr);

  const std::vector<Run>& all() const { return m_runs; }
  const Run* find(const std::string& id) const;
  /// Returns the run whose numbers are displayed. comparedWith() is the one that it is compared with. Null: none.
  const Run* shown() const { return find(m_shown); }
  const Run* comparedWith() const { return find(m_comparedWith); }
  /// Returns the displayed comparison of comparedWith() (A) with shown() (B): the chosen one, otherwise the latest that
  /// ended; null: there is none.
  const Run* comparison() const;
  /// The times of two runs that were timed in turns.
  struct InTurns {
    double ratio = 1;  ///< the time of `b` divided by that of `a`
    Range range;       ///< range of the ratio, turn by turn
    int turns = 0;
  };
  /// Returns the result of timing the two runs in turns: from comparison() if it compares these two, otherwise from the
  /// newest comparison of them, whichever of the two it calls A. Nothing if they were not timed in turns.
  std::optional<InTurns> inTurns(const std::string& a, const std::string& b) const;
  /// The times of a plan that was built and timed in the background, which is no run of the session.
  struct BackgroundTime {
    Run of;        ///< the plan, as that of a run, with its time
    QString made;  ///< "the background build of 14:05:12"
  };
  /// Returns those of the displayed plan; null: there are none, or shown() has times of this plan.
  const BackgroundTime* backgroundTime() const;
  /// Sets the times that were measured last in the background; nothing: there are none.
  void setBackgroundTime(std::optional<BackgroundTime> time);
  const RunSettings& settings() const { return m_settings; }
  /// Returns the plans of runs of the session, which are made on request, and the network that they are made from.
  /// Never null; another one is created when another network is opened.
  const std::shared_ptr<RunPlans>& plans() const { return m_plans; }
  OpenNetwork network() const;

  /// Returns whether it is a run of the displayed plan. Otherwise its numbers are shown as those of another plan.
  bool ofThisPlan(const Run& run) const;
  /// Returns the latest successful run of the displayed plan; null: there is none.
  const Run* newestOfThisPlan() const;
  /// Returns the verdict of `run` by the tolerance of the settings. The place where it first becomes wrong is taken
  /// from the errors per layer on the same inputs if there are any, and otherwise from the evaluation.
  Verdict verdict(const Run& run) const;
  /// Returns the evaluation that the verdict is about; null: there is none.
  const Evaluation* evaluation(const Run& run) const { return evaluationFor(run, m_settings); }
  /// Returns the times of shown() or of backgroundTime() for the kernels of the displayed plan that have the same nodes
  /// and types; empty without either. The same object is returned as long as nothing changes.
  ShownTimes layerTimes() const;
  /// Errors layer by layer for a run: its own, or those of another run of the same plan (model, options and extents),
  /// whichever fit the settings best. Both members are null if there are none.
  struct MeasuredErrors {
    const Run* run = nullptr;
    SharedOptional<RunErrors> errors;
  };
  MeasuredErrors errorsOf(const Run& run) const;
  /// Returns those of shown(), for the kernels of the displayed plan that have the same nodes and types.
  ShownErrors layerErrors() const;
  /// Returns where the displayed run first becomes wrong according to errors layer by layer, if it is of the displayed
  /// plan and these errors decide. Errors that reach no output are not wrong.
  std::optional<FirstWrong> firstWrong() const;
  /// The place where the displayed run first becomes wrong, if it is of the displayed plan, whatever it is known from.
  struct Failure {
    std::string value;               ///< the value that is wrong
    NodeId node;                     ///< the node that makes it; invalid: it is an input of the network
    std::string name;                ///< the name of the node
    bool notFinite = false;          ///< it became infinite or NaN
    std::string why;                 ///< the reason from errors layer by layer, for people; empty: only its evaluation
                                     ///< is known
    std::optional<Advice> advice{};  ///< advice on pins, if pins were tried
  };
  std::optional<Failure> failure() const;
  /// Returns why the evaluation of a run and its errors layer by layer give different verdicts, in a sentence for
  /// people; empty if they agree.
  QString whyVerdictsDiffer(const Run& run) const;
  /// Returns the title that is shown with its numbers: "run 3, 2 pins".
  static QString title(const Run& run) { return title(run.id, qs(run.name)); }
  static QString title(const std::string& id, const QString& name);
  /// Returns whether it ended without any number: it failed, or was cancelled or interrupted.
  static bool endedWithoutNumbers(const Run& run);
  static bool hasNumbers(const Run& run);

  /// Adds a run at the end, displays it, and compares it with the one that was displayed before. A comparison changes
  /// neither; it is comparison() as long as its two runs are displayed. Returns the id.
  std::string add(Run run);
  /// Undoes the display of a run that failed: the two runs that were displayed before are displayed again.
  void undoDisplay(const std::string& id);
  template <class Change>
  void change(const std::string& id, Change change) {
    for (Run& run : m_runs) {
      if (run.id != id) continue;
      change(run);
      emit runChanged(qs(id));
      emit changed();
      return;
    }
  }
  /// Adds errors layer by layer that were measured for a run. They may also be used for the displayed run, if that is
  /// of the same plan.
  void addErrors(const std::string& id, const SharedOptional<RunErrors>& errors);
  void rename(const std::string& id, const QString& name);
  /// Removes the run and the comparisons with it.
  void remove(const std::string& id);
  std::int64_t comparisonsOf(const std::string& id) const;
  /// Displays a run; for a comparison it also displays its two runs.
  void show(const std::string& id);
  void compareWith(const std::string& id);
  void setSettings(const RunSettings& settings);
  /// Returns the runs that the ribbon shows as lanes besides shown() and comparedWith(), in the order in which they
  /// were added.
  const std::vector<std::string>& lanes() const { return m_lanes; }
  bool isLane(const std::string& id) const;
  /// The largest number of lanes.
  static constexpr std::size_t kMostLanes = 4;
  /// Returns why a run cannot be such a lane; empty if it can.
  QString laneRefusal(const Run& run) const;
  void setLane(const std::string& id, bool shown);
  void setLanes(std::vector<std::string> ids);

  /// These read and write everything of a session.
  void restore(const Session& session);
  void store(Session& session) const;

 signals:
  void runsChanged();  ///< a run was added or removed, or all were replaced
  void runChanged(const QString& id);
  void shownChanged();  ///< other runs are displayed, or what is known about them has changed
  void settingsChanged();
  void changed();  ///< any of these changes, so that there is something to save

 private:
  void letPlansGo();
  static std::shared_ptr<RunPlans> newPlans();
  static QString qs(const std::string& text) { return QString::fromStdString(text); }
  PlanDocument& m_document;
  std::vector<Run> m_runs;
  std::string m_shown, m_comparedWith, m_comparison;
  std::vector<std::string> m_lanes;
  /// The two runs that were displayed when the last run was added, and that run.
  struct Before {
    std::string added, shown, comparedWith;
  };
  Before m_before;
  std::int64_t m_next = 1;
  RunSettings m_settings;
  std::optional<BackgroundTime> m_background;
  std::shared_ptr<RunPlans> m_plans = newPlans();

  /// The last result of layerTimes(), and its arguments.
  struct KnownTimes {
    SharedOptional<RunTime> of;
    std::shared_ptr<const PlanSnapshot> plan;
    TimeKind measured = TimeKind::Unknown;
    ShownTimes times;
  };
  mutable KnownTimes m_known;

  /// What the errors of the displayed run say, and from what this was computed.
  struct KnownErrors {
    SharedOptional<RunErrors> of;
    std::shared_ptr<const PlanSnapshot> plan;
    bool ofThisPlan = false;
    Tolerance tolerance{};
    ByHandle<ShownError> errors{};
    bool sameAs(const KnownErrors& other) const {
      return of.isSameObject(other.of) && plan == other.plan && ofThisPlan == other.ofThisPlan &&
             tolerance == other.tolerance;
    }
  };
  const KnownErrors& knownErrors() const;
  mutable KnownErrors m_knownErrors;

  /// The errors of layers, judged with the graph on screen and the tolerance of the settings.
  struct Judged {
    SharedOptional<RunErrors> of;
    std::set<std::string> leading;    ///< see leadingToOutputs()
    std::optional<FirstWrong> first;  ///< among the tensors that lead to an output
    bool notFinite = false;           ///< whether the first one became infinite or NaN
  };
  const Judged& judged(const SharedOptional<RunErrors>& errors) const;
  /// Returns the verdict of the errors per layer of `run`, a run of this model, if it decides where the run goes wrong.
  /// Null if the evaluation decides instead because it was made on the inputs of the settings, or if there are no
  /// errors per layer.
  const Judged* judgedByLayers(const Run& run) const;
  /// All results that were requested, with their arguments, because they are requested repeatedly.
  struct KnownJudged {
    std::shared_ptr<const Model> model;
    Tolerance tolerance{};
    std::deque<Judged> all{};
  };
  mutable KnownJudged m_judged;
};

}  // namespace fusescope
