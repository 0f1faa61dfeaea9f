#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <deque>
#include <functional>
#include <memory>

#include "session/worker_protocol.h"
#include "ui/document/compiler_facts.h"
#include "ui/document/runs.h"

namespace fusescope {

class JobRunner;
class WorkerClient;
struct ValueOfBoth;

/// Makes runs in the worker process: builds, times, evaluates, compares. One piece of work at a time, the others wait.
/// Never waits itself; what it learns goes into Runs.
class RunController : public QObject {
  Q_OBJECT

 public:
  static constexpr double kWarmupSeconds = 0.2;  ///< for which a run runs before it is timed

  RunController(PlanDocument& document, Runs& runs, WorkerClient& worker, JobRunner& jobs, QObject* parent = nullptr);

  /// Where engine files of runs go; made when the first is written.
  void setEngineFolder(const QString& folder) { m_engineFolder = folder; }
  const QString& engineFolder() const { return m_engineFolder; }
  bool busy() const { return m_request != 0 || !m_steps.empty(); }
  Compilers& compilers() { return m_compilers; }
  const Compilers& compilers() const { return m_compilers; }
  /// Why it cannot be done now, for people; empty: it can.
  QString buildRefusal() const;
  QString compileRefusal() const;  ///< the same, but for what is under way
  QString compareRefusal() const { return compareRefusal(m_runs.comparedWith(), m_runs.shown()); }
  QString compareRefusal(const Run* a, const Run* b) const;  ///< of these two; null: there is none
  QString evaluateRefusal() const;
  QString errorsRefusal() const;
  QString specialiseRefusal() const;
  QString valueRefusal() const;
  QString tuneRefusal() const;
  QString bisectRefusal() const;
  QString calibrateRefusal() const;
  /// The target is one that is planned for here, and that our own compiler builds no engine for.
  bool plansOnly() const;

  /// A new run of the plan on screen: built, and timed where its compiler can.
  void build();
  /// The newest run of our compiler whose engine is kept, of the network that is open or was before its weights
  /// changed: what refit() can take. Null: there is none.
  const Run* refittable() const;
  /// A new run: the engine of the run `former` with the weights of the model that is open, which is the same network.
  /// It has its options and tactics; nothing is measured but how long a run takes. Refused by buildRefusal().
  void refit(const std::string& former);
  /// Chooses the compiler, and builds once the plan for it is there.
  void buildWith(const Compiler& compiler);
  /// Why that cannot be done now; empty: it can.
  QString buildWithRefusal(const Compiler& compiler) const;
  /// The plan on screen beside the baseline, the same model in float32 without directives: builds both (a baseline that
  /// is there already is taken), evaluates the former and compares. Of a plan that is the baseline there is one to
  /// build, to be evaluated, and notice() says so.
  void buildBoth();
  bool planIsBaseline() const;
  /// Each engine file as a run, timed as it is, in this order. What it was made of it says itself.
  void addEngines(const QStringList& paths);
  /// What these files tell of a TensorRT engine of the network that is open, as a run: its plan is on screen, and the
  /// options become those that it was built with, as far as the files say. problem() says what is wrong with them.
  void importEngine(const QStringList& paths);
  /// How far the shown run's types are from float32, on the inputs of the settings, on the reference backend.
  void evaluate();
  /// What the types of each layer do, local and carried, on the inputs and the backend of the settings: of the shown
  /// run if it is of the plan on screen, else of a new one of that plan, which is not built for it.
  void evaluateErrors();
  /// Calls the shown run's network with all samples of the settings' inputs until it is settled which engine serves the
  /// extents of each: the general one, or one that is built in the background for just these extents.
  void specialise();
  /// Has the network in float32 and the plan on screen run on a sample of the settings' inputs, from 0 on, until both
  /// have made this value: valueFetched() tells it, else problem() why not. No run comes of it.
  void fetchValue(const std::string& value, std::int64_t sample);
  /// Compares the two runs that are shown. An engine that is no longer kept is built again first.
  void compare();
  /// Stops what is under way and drops what waits.
  void cancel();
  /// The runs are about to be those of another session: what is under way is stopped, and its answer dropped.
  void forget();

  /// What is under way: "building run 2: tactics"; empty: nothing.
  QString activity() const;
  /// The same in parts: which run it is for (empty: none), and what the worker named last, "kernels" on "conv_7".
  struct UnderWay {
    std::string run;
    QString phase, detail;
  };
  UnderWay underWay() const { return busy() ? UnderWay{m_run, m_phase, m_detail} : UnderWay(); }
  qint64 elapsedMs() const { return m_elapsed.isValid() ? m_elapsed.elapsed() : 0; }
  /// Of the last comparison or evaluation that failed; empty: it did not.
  const QString& problem() const { return m_problem; }
  /// What is to be known of what was asked for last; empty: nothing.
  const QString& notice() const { return m_notice; }

 signals:
  void valueFetched(const std::shared_ptr<const ValueOfBoth>& value);
  void filesRefused(const QString& problem);  ///< of importEngine() or addEngines()
  void activityChanged();                     ///< begins, ends, or says something new (some ten times a second at most)

 private:
  Run newRun() const;
  /// Why nothing of the model that is open can be built, whoever compiles it.
  QString sourceRefusal() const;
  /// Why the compiler of `options` cannot do it; empty: it can.
  QString whyNot(const PlanOptions& options, Ability ability) const;
  std::string addRun(const PlanOptions& options);
  std::string addComparison(const std::string& a, const std::string& b);
  /// `made` is told the id of the run, once it begins.
  void queueRun(const PlanOptions& options, const std::shared_ptr<std::string>& made = {});
  void addEngine(const QString& path, const EngineFile& info);
  /// Adds what was read of the network that is open: from `path`, and others beside it.
  void addRead(Run run, const QString& path);
  void filesFailed(const QString& problem);
  /// `refitted`: the engine file that it is made of; empty: it is built.
  void queueBuild(const std::string& id, const std::string& refitted = {});
  void queueTime(const std::string& id);
  void queueEvaluation(const std::string& id);
  void queueErrors(const std::string& id);
  void queueSpecialise(const std::string& id);
  void queueValue(const std::string& value, std::int64_t sample);
  void queueCompare(const std::string& a, const std::string& b);
  /// Begins the next step if nothing is under way.
  void next();
  /// `what` for people; `id` the run it is for, or empty. `decode`, from const Json& to Result<T>, is called off the
  /// GUI thread; `done` takes what it made. On failure everything that waits is dropped.
  template <class Decode, class Done>
  void send(const QString& what, const std::string& id, const WorkerRequest& request, Decode decode, Done done);
  void sent(const QString& what, std::int64_t request);
  void heard(const std::string& id, const QString& phase, const QString& detail);
  void failed(const std::string& id, const Diagnostic& error);
  WorkSource source(const Run& run) const;
  WorkSource engineSource(const Run& run) const;
  /// Its engine; of one that has no file, what it is made of again.
  WorkSource timedSource(const Run& run) const;
  bool engineIsKept(const Run& run) const;
  /// Is the model that is open the one that it was made of? Else what was made again would be another run's.
  bool canBeMadeAgain(const Run& run) const;
  void log(const std::string& id, const QString& line);
  /// Is the model on disk still the one that is open? Else what the worker makes would be of another.
  Status checkModel(const Run& run) const;
  PlanOptions exactOptions() const;
  const Run* baseline() const;

  PlanDocument& m_document;
  Runs& m_runs;
  WorkerClient& m_worker;
  JobRunner& m_jobs;
  Compilers m_compilers;
  bool m_buildsOncePlanned = false;
  QString m_engineFolder;
  std::deque<std::function<void()>> m_steps;
  std::int64_t m_request = 0;
  int m_session = 0;  ///< how many there were before this one
  std::string m_run;  ///< that the request is for
  QString m_what, m_phase, m_detail, m_problem, m_notice;
  QElapsedTimer m_elapsed;
  QTimer m_told;  ///< at most so often the views hear of progress
};

}  // namespace fusescope
