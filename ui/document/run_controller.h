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

/// Makes runs in the worker process: builds, times, evaluates, compares. It does one piece of work at a time, and the
/// others wait. It never blocks; its results are added to Runs.
class RunController : public QObject {
  Q_OBJECT

 public:
  static constexpr int kWaitMs = 20;             ///< how often it looks whether another worker is done
  static constexpr double kWarmupSeconds = 0.2;  ///< how long a run is warmed up before it is timed

  RunController(PlanDocument& document, Runs& runs, WorkerClient& worker, JobRunner& jobs, QObject* parent = nullptr);

  /// Sets the folder for engine files of runs; it is created when the first is written.
  void setEngineFolder(const QString& folder) { m_engineFolder = folder; }
  const QString& engineFolder() const { return m_engineFolder; }
  bool busy() const { return m_request != 0 || !m_steps.empty(); }
  /// Makes work begin only when `other`, which must outlive this, has no request: two measurements at the same time
  /// would disturb each other. Whoever uses it must stop its request when activityChanged() is emitted and busy().
  void startAfter(const WorkerClient& other) { m_before = &other; }
  Compilers& compilers() { return m_compilers; }
  const Compilers& compilers() const { return m_compilers; }
  /// Return why something cannot be done now, for people; empty if it can.
  QString buildRefusal() const;
  QString compileRefusal() const;  ///< ignores running work
  QString compareRefusal() const { return compareRefusal(m_runs.comparedWith(), m_runs.shown()); }
  QString compareRefusal(const Run* a, const Run* b) const;  ///< for these two runs; null: there is none
  QString evaluateRefusal() const;
  QString errorsRefusal() const;
  QString specialiseRefusal() const;
  QString valueRefusal() const;
  QString tuneRefusal() const;
  QString bisectRefusal() const;
  QString calibrateRefusal() const;
  /// Returns whether our own compiler builds no engine for the target, so that this program can only plan for it.
  bool plansOnly() const;

  /// Makes a new run of the displayed plan: builds it, and times it if its compiler can.
  void build();
  /// Returns the latest run of our compiler whose engine is kept, and whose network is the open one, possibly before
  /// its weights changed; refit() accepts it. Null: there is none.
  const Run* refittable() const;
  /// Makes a new run: the engine of the run `former` with the weights of the open model, which must be the same
  /// network. It has the options and tactics of that engine; only the time of a run is measured. Refused by
  /// buildRefusal().
  void refit(const std::string& former);
  /// Chooses the compiler, and builds when its plan is ready.
  void buildWith(const Compiler& compiler);
  /// Returns why that cannot be done now; empty if it can.
  QString buildWithRefusal(const Compiler& compiler) const;
  /// Builds the displayed plan and the baseline, which is the same model in float32 without directives; an existing
  /// baseline is reused. Then evaluates the plan and compares both. If the plan is the baseline, only that is built and
  /// evaluated, and notice() says so.
  void buildBoth();
  bool planIsBaseline() const;
  /// Makes a run of each engine file, in this order, and times it. The engine file says what it was made from.
  void addEngines(const QStringList& paths);
  /// Makes a run from files of a TensorRT engine of the open network: its plan is displayed, and the options become
  /// those of its build, as far as the files contain them. problem() says what is wrong with the files.
  void importEngine(const QStringList& paths);
  /// Measures the errors of the displayed run against float32, on the inputs of the settings, on the reference backend.
  void evaluate();
  /// Measures the errors of each layer, local and carried, on the inputs and the backend of the settings: for the
  /// displayed run if it is of the displayed plan, otherwise for a new run of that plan, which is not built for this.
  void evaluateErrors();
  /// Calls the displayed run's network with all samples of the settings' inputs until it is decided which engine serves
  /// the extents of each: the general one, or one that is built in the background for exactly these extents.
  void specialise();
  /// Runs the network in float32 and the displayed plan on a sample of the settings' inputs, counted from 0, until both
  /// have made this value. valueFetched() returns it; otherwise problem() says why not. This makes no run.
  void fetchValue(const std::string& value, std::int64_t sample);
  /// Compares the two displayed runs. An engine that is not kept any more is built again first.
  void compare();
  /// Stops the running work and drops waiting work.
  void cancel();
  /// Must be called before another session's runs are set: running work is stopped, and its answer is dropped.
  void forget();

  /// Returns the running work, "building run 2: tactics"; empty if there is none.
  QString activity() const;
  /// The same in parts: the run (empty: none), and the last message of the worker, "kernels" about "conv_7".
  struct UnderWay {
    std::string run;
    QString phase, detail;
  };
  UnderWay underWay() const { return busy() ? UnderWay{m_run, m_phase, m_detail} : UnderWay(); }
  qint64 elapsedMs() const { return m_elapsed.isValid() ? m_elapsed.elapsed() : 0; }
  /// Returns the problem of the last comparison or evaluation; empty if it did not fail.
  const QString& problem() const { return m_problem; }
  /// Returns what the user must know about the last request; may be empty.
  const QString& notice() const { return m_notice; }

 signals:
  void valueFetched(const std::shared_ptr<const ValueOfBoth>& value);
  void filesRefused(const QString& problem);  ///< from importEngine() or addEngines()
  void activityChanged();                     ///< work begins, ends, or reports something new (at most about ten times
                                              ///< per second)

 private:
  Run newRun() const;
  /// Returns why nothing can be built from the open model with any compiler.
  QString sourceRefusal() const;
  /// Returns why the compiler of `options` lacks the ability; empty if it has it.
  QString whyNot(const PlanOptions& options, Ability ability) const;
  std::string addRun(const PlanOptions& options);
  std::string addComparison(const std::string& a, const std::string& b);
  /// `made` receives the id of the run when the run begins.
  void queueRun(const PlanOptions& options, const std::shared_ptr<std::string>& made = {});
  void addEngine(const QString& path, const EngineFile& info);
  /// Adds what was read of the network that is open: from `path`, and others beside it.
  void addRead(Run run, const QString& path);
  void filesFailed(const QString& problem);
  /// `refitted` is the engine file that is refitted; if it is empty, the engine is built.
  void queueBuild(const std::string& id, const std::string& refitted = {});
  void queueTime(const std::string& id);
  void queueEvaluation(const std::string& id);
  void queueErrors(const std::string& id);
  void queueSpecialise(const std::string& id);
  void queueValue(const std::string& value, std::int64_t sample);
  void queueCompare(const std::string& a, const std::string& b);
  /// Starts the next step if no other one is running.
  void next();
  void endUnfinished();
  /// Sends a request. `what` describes it for people, and `id` is its run, or empty. `decode`, a function from const
  /// Json& to Result<T>, is called on another thread, and `done` receives its result. If the request fails, all waiting
  /// steps are dropped.
  template <class Decode, class Done>
  void send(const QString& what, const std::string& id, const WorkerRequest& request, Decode decode, Done done);
  void sent(const QString& what, std::int64_t request);
  void heard(const std::string& id, const QString& phase, const QString& detail);
  void failed(const std::string& id, const Diagnostic& error);
  WorkSource source(const Run& run) const;
  WorkSource engineSource(const Run& run) const;
  /// Returns the engine of the run. If it has no file, returns the source from which it is made again.
  WorkSource timedSource(const Run& run) const;
  bool engineIsKept(const Run& run) const;
  /// Returns whether the open model is the one from which the run was made. Otherwise its results cannot be made again.
  bool canBeMadeAgain(const Run& run) const;
  void log(const std::string& id, const QString& line);
  /// Checks that the model on disk is still the open one. Otherwise the worker's results would belong to another model.
  Status checkModel(const Run& run) const;
  PlanOptions exactOptions() const;
  const Run* baseline() const;

  PlanDocument& m_document;
  Runs& m_runs;
  WorkerClient& m_worker;
  const WorkerClient* m_before = nullptr;  ///< see startAfter()
  JobRunner& m_jobs;
  Compilers m_compilers;
  bool m_buildsOncePlanned = false;
  QString m_engineFolder;
  std::deque<std::function<void()>> m_steps;
  std::int64_t m_request = 0;
  int m_session = 0;  ///< how many sessions there were before this one
  std::string m_run;  ///< the run to which the request belongs
  QString m_what, m_phase, m_detail, m_problem, m_notice;
  QElapsedTimer m_elapsed;
  QTimer m_activityTimer;  ///< limits how often views are informed about progress
};

}  // namespace fusescope
