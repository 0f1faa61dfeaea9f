#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <deque>
#include <optional>
#include <string>

#include "session/worker_protocol.h"
#include "ui/document/run_controller.h"

namespace fusescope {

/// Finds out what the chosen compiler makes of the displayed plan, by a build in the background whenever the plan
/// changes: the prediction is displayed at once, and is replaced by facts when they are known. An edit ends the build
/// of the previous plan. A background build is not a run, and only what it found out about the latest plans of the
/// model is kept. Of another compiler this is what it made; nothing is timed, and the process of the previous plan is
/// ended. Of our own compiler, whose plan is what runs, it is the times: the plan is built, where the worker takes over
/// what did not change since its last build, and its kernels are timed. Our own builds are off unless the user switched
/// them on, because they use the machine. Nothing is built while the RunController works, because it may be timing. It
/// is used on the GUI thread only, and never blocks.
class BackgroundBuilds : public QObject {
  Q_OBJECT

 public:
  static constexpr int kSettleMs = 400;           ///< how long a plan must be unchanged before it is built
  static constexpr double kLongBuildMs = 30'000;  ///< longer builds are started only if the user chose so
  static constexpr std::size_t kMostKept = 16;
  /// How long a plan of our own compiler is warmed up and timed; less than a run, because the user is waiting.
  static constexpr double kWarmupSeconds = 0.1, kTimedSeconds = 0.5;

  /// `worker` must be a separate process, because that of the controller does one piece of work at a time.
  BackgroundBuilds(PlanDocument& document, Runs& runs, const RunController& controller, WorkerClient& worker,
                   QObject* parent = nullptr);

  enum class State {
    None,     ///< there is no plan, or none that our own compiler would have to time
    Off,      ///< the user switched background builds off, or they take too long
    Waiting,  ///< for the plan to settle, or for the controller
    Building,
    Timing,  ///< our own compiler has built the plan
    Made,    ///< the build succeeded, and so did timing it
    Failed   ///< problem() says why it failed
  };
  State state() const;
  /// Returns what a background build made of the displayed plan, if there was one.
  SharedOptional<Json> made() const;
  QString problem() const;
  /// What our own compiler did for the displayed plan, once it is built and timed.
  struct OwnBuild {
    QString when;                                                         ///< "14:05:12", local time
    double seconds = 0;                                                   ///< of the build, without timing
    std::int64_t regions = 0, compiled = 0, measured = 0, takenOver = 0;  ///< see BuildReport
    SharedOptional<RunTime> time{};
    // How it was timed.
    SampleSource inputs{};
    int threads = 0;
    std::string backend{};
  };
  const OwnBuild* ownBuild() const;
  qint64 elapsedMs() const { return m_request != 0 ? m_elapsed.elapsed() : 0; }

  /// Returns whether the chosen compiler is our own.
  bool isOwn() const;
  /// Returns whether plans are built while the user edits: as chosen, or by default, for another compiler, unless the
  /// last build took longer than kLongBuildMs.
  bool isOn() const;
  const std::optional<bool>& chosen() const { return m_chosen; }
  /// Sets the choice; nothing restores the default.
  void choose(std::optional<bool> on);
  /// Returns why there is nothing to choose; empty if there is.
  QString refusal() const;
  /// Returns how long the latest build of this model by this compiler took, in whatever way it was made; nothing if
  /// there was none.
  std::optional<double> lastBuildMs() const;

 signals:
  void changed();

 private:
  /// The result of building a plan.
  struct Built {
    std::string of;  ///< see key()
    SharedOptional<Json> made;
    QString problem;
    std::optional<OwnBuild> own{};
    bool succeeded() const { return made || own; }
  };

  /// Returns the key of the plan on screen and its compiler; empty if there is none.
  std::string key() const;
  /// Returns the key of a plan of our own compiler: everything from which it is made, without measured prices, which
  /// change with each build.
  const std::string& ownKey(const std::shared_ptr<const Plan>& plan) const;
  const Built* known() const;
  bool shownRunKnows() const;
  bool wants() const;
  void follow();
  void forgetOtherSettings();
  void start();
  WorkerRequest requestFor(WorkSettings settings) const;
  void startOwn();
  void timeOwn(OwnBuild built);
  /// Gives the times of the displayed plan to the runs, if there are any.
  void showTime();
  template <class Answer>
  bool ended(std::int64_t number, const Result<Answer>& answer);
  void stop();
  void keep(Built built);

  PlanDocument& m_document;
  Runs& m_runs;
  const RunController& m_controller;
  WorkerClient& m_worker;
  QTimer m_settle;
  std::optional<bool> m_chosen;
  std::deque<Built> m_built;  ///< the newest first
  std::int64_t m_request = 0;
  std::string m_building;   ///< key() of the plan that is being built
  bool m_isTiming = false;  ///< whether the current request is a measurement
  QElapsedTimer m_elapsed;
  std::optional<double> m_lastMs;
  std::string m_lastCompiler;                       ///< the compiler to which m_lastMs belongs
  mutable std::shared_ptr<const Plan> m_keyedPlan;  ///< the plan to which m_ownKey belongs
  mutable std::string m_ownKey;
};

}  // namespace fusescope
