#pragma once

#include <QObject>
#include <QString>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/run.h"
#include "session/run_plans.h"
#include "session/session_file.h"
#include "session/verdict.h"
#include "ui/document/plan_document.h"
#include "ui/document/shown_error.h"
#include "ui/document/shown_time.h"

namespace fusescope {

/// Every run of the session, and which two are shown. Lives in the GUI thread; the RunController adds to it.
class Runs : public QObject {
  Q_OBJECT

 public:
  explicit Runs(PlanDocument& document, QObject* parent = nullptr);

  const std::vector<Run>& all() const { return m_runs; }
  const Run* find(const std::string& id) const;
  /// The run whose numbers are on screen, and the one that it is compared with; null: none.
  const Run* shown() const { return find(m_shown); }
  const Run* comparedWith() const { return find(m_comparedWith); }
  /// The comparison of comparedWith() (A) with shown() (B) that is shown: the one that was chosen, else the newest that
  /// came to an end; null: there is none.
  const Run* comparison() const;
  /// What two runs took when they were timed in turns.
  struct InTurns {
    double ratio = 1;  ///< the time of `b` over that of `a`
    Range range;       ///< of it, turn by turn
    int turns = 0;
  };
  /// Returns the result of timing the two runs in turns: from comparison() if it compares these two, otherwise from the
  /// newest comparison of them, whichever of the two it calls A. Nothing if they were not timed in turns.
  std::optional<InTurns> inTurns(const std::string& a, const std::string& b) const;
  const RunSettings& settings() const { return m_settings; }
  /// The plans that runs of the session are of, as they are asked for, and the network that they are made from. Never
  /// null; another one is made where another network is opened.
  const std::shared_ptr<RunPlans>& plans() const { return m_plans; }
  OpenNetwork network() const;

  /// Is it of the plan on screen? If not, its numbers are shown as another's.
  bool ofThisPlan(const Run& run) const;
  /// The newest run of the plan on screen that came to something; null: there is none.
  const Run* newestOfThisPlan() const;
  /// Returns the verdict of `run` by the tolerance of the settings. The place where it first goes wrong is taken from
  /// the errors per layer on the same inputs if there are any, and otherwise from the evaluation.
  Verdict verdict(const Run& run) const;
  /// The evaluation that the verdict is of; null: there is none.
  const Evaluation* evaluation(const Run& run) const { return evaluationFor(run, m_settings); }
  /// Times of shown() for the kernels of the plan on screen that have the same nodes and types; without one, none. The
  /// same value as long as they are the same.
  ShownTimes layerTimes() const;
  /// Errors layer by layer that speak of a run: its own, or those of another run of the same plan (model, options and
  /// extents), whichever fit the settings best. Null and none: there are no such ones.
  struct MeasuredErrors {
    const Run* run = nullptr;
    SharedOptional<RunErrors> errors;
  };
  MeasuredErrors errorsOf(const Run& run) const;
  /// Those of shown(), for the kernels of the plan on screen that have the same nodes and types.
  ShownErrors layerErrors() const;
  /// Where the shown run first goes wrong by errors layer by layer, if it is of the plan on screen and it is they that
  /// tell. What leads to no output is not wrong.
  std::optional<FirstWrong> firstWrong() const;
  /// Where the shown run first goes wrong, if it is of the plan on screen: one place, whatever it is known by.
  struct Failure {
    std::string value;               ///< that goes wrong
    NodeId node;                     ///< that makes it; invalid: an input of the network
    std::string name;                ///< of the node
    bool notFinite = false;          ///< it became infinite or NaN
    std::string why;                 ///< by errors layer by layer, for people; empty: its evaluation alone tells
    std::optional<Advice> advice{};  ///< what came of trying pins, where they were tried
  };
  std::optional<Failure> failure() const;
  /// Why the evaluation of a run and errors layer by layer say different things of it, in a sentence for people; empty:
  /// they do not.
  QString whyVerdictsDiffer(const Run& run) const;
  /// What its numbers are called: "run 3, 2 pins".
  static QString title(const Run& run) { return title(run.id, qs(run.name)); }
  static QString title(const std::string& id, const QString& name);
  /// Whether it ended before there was a number of it: it failed, or was cancelled or interrupted.
  static bool cameToNothing(const Run& run);
  static bool hasNumbers(const Run& run);

  /// Puts it at the end and shows it; what was shown becomes what it is compared with. A comparison leaves
  /// both as they are, and is comparison() while they are the runs that it is of. Gives its id.
  std::string add(Run run);
  /// A run that came to nothing is not shown because it was added: the two that were shown before it are shown again.
  void giveBack(const std::string& id);
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
  /// Errors layer by layer that were measured of a run. They may be the shown one's, too: it may be of the same plan.
  void addErrors(const std::string& id, const SharedOptional<RunErrors>& errors);
  void rename(const std::string& id, const QString& name);
  /// Also the comparisons of it.
  void remove(const std::string& id);
  std::int64_t comparisonsOf(const std::string& id) const;
  /// Of a comparison: it, and the two runs that it is of.
  void show(const std::string& id);
  void compareWith(const std::string& id);
  void setSettings(const RunSettings& settings);
  /// Runs that the ribbon shows as lanes besides shown() and comparedWith(), in the order in which they were asked for.
  const std::vector<std::string>& lanes() const { return m_lanes; }
  bool isLane(const std::string& id) const;
  /// At most this many.
  static constexpr std::size_t kMostLanes = 4;
  /// Why a run cannot be such a lane; empty: it can be.
  QString laneRefusal(const Run& run) const;
  void setLane(const std::string& id, bool shown);
  void setLanes(std::vector<std::string> ids);

  /// All of it from, and into, a session.
  void restore(const Session& session);
  void store(Session& session) const;

 signals:
  void runsChanged();  ///< one more, one less, or all others
  void runChanged(const QString& id);
  void shownChanged();  ///< which two are shown, or what others say of them
  void settingsChanged();
  void changed();  ///< any of these: there is something to save

 private:
  void letPlansGo();
  static std::shared_ptr<RunPlans> newPlans();
  static QString qs(const std::string& text) { return QString::fromStdString(text); }
  PlanDocument& m_document;
  std::vector<Run> m_runs;
  std::string m_shown, m_comparedWith, m_comparison;
  std::vector<std::string> m_lanes;
  /// Which two were shown when the last run was added, and which run that is.
  struct Before {
    std::string added, shown, comparedWith;
  };
  Before m_before;
  std::int64_t m_next = 1;
  RunSettings m_settings;
  std::shared_ptr<RunPlans> m_plans = newPlans();

  /// What layerTimes() gave last, and of what.
  struct KnownTimes {
    SharedOptional<RunTime> of;
    std::shared_ptr<const PlanSnapshot> plan;
    TimeKind measured = TimeKind::Unknown;
    ShownTimes times;
  };
  mutable KnownTimes m_known;

  /// What the errors of the shown run say, and what that was worked out of.
  struct KnownErrors {
    SharedOptional<RunErrors> of;
    std::shared_ptr<const PlanSnapshot> plan;
    bool ofThisPlan = false;
    Tolerance tolerance{};
    ByHandle<ShownError> errors{};
    bool sameAs(const KnownErrors& other) const {
      return of.shares(other.of) && plan == other.plan && ofThisPlan == other.ofThisPlan &&
             tolerance == other.tolerance;
    }
  };
  const KnownErrors& knownErrors() const;
  mutable KnownErrors m_knownErrors;

  /// What errors layer by layer come to by the graph on screen and the tolerance of the settings.
  struct Judged {
    SharedOptional<RunErrors> of;
    std::set<std::string> leading;    ///< leadingToOutputs()
    std::optional<FirstWrong> first;  ///< of those that lead to an output
    bool notFinite = false;           ///< the first became infinite or NaN
  };
  const Judged& judged(const SharedOptional<RunErrors>& errors) const;
  /// Returns the verdict of the errors per layer of `run`, a run of this model, if it decides where the run goes wrong.
  /// Null if the evaluation decides instead because it was made on the inputs of the settings, or if there are no
  /// errors per layer.
  const Judged* judgedByLayers(const Run& run) const;
  /// All that were asked for, and of what: it is asked for again and again.
  struct KnownJudged {
    std::shared_ptr<const Model> model;
    Tolerance tolerance{};
    std::deque<Judged> all{};
  };
  mutable KnownJudged m_judged;
};

}  // namespace fusescope
