#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>
#include <deque>
#include <optional>
#include <string>

#include "ui/document/run_controller.h"

namespace fusescope {

/// What the compiler that is chosen makes of the plan on screen, found out by building in the background whenever the
/// plan changes: the prediction is on screen at once, and what was made takes its place when it is known. An edit ends
/// the build of the plan before, with its process. A background build is no run: nothing is timed, and only what was
/// made is kept, for the newest plans of the model. Nothing is built while the RunController works, which may be
/// timing. Our own compiler needs none of this: its plan is what runs. GUI thread only; never waits.
class BackgroundBuilds : public QObject {
  Q_OBJECT

 public:
  static constexpr int kSettleMs = 400;           ///< so long a plan stays as it is before it is built
  static constexpr double kLongBuildMs = 30'000;  ///< builds that take longer are started only where the user chose so
  static constexpr std::size_t kMostKept = 16;

  /// `worker`: a process of its own, for that of the controller does one piece of work at a time.
  BackgroundBuilds(PlanDocument& document, Runs& runs, const RunController& controller, WorkerClient& worker,
                   QObject* parent = nullptr);

  enum class State {
    None,     ///< there is no plan for another compiler
    Off,      ///< nobody finds out what it makes of the plan
    Waiting,  ///< for the plan to settle, or for the controller
    Building,
    Made,   ///< what it made is known
    Failed  ///< problem() says why it is not
  };
  State state() const;
  /// Of the plan on screen, if a background build made it.
  SharedOptional<Json> made() const;
  QString problem() const;
  qint64 elapsedMs() const { return m_request != 0 ? m_elapsed.elapsed() : 0; }

  /// Whether plans are built while the user edits: as was chosen, else unless the last build took kLongBuildMs.
  bool isOn() const;
  const std::optional<bool>& chosen() const { return m_chosen; }
  /// Nothing: back to what is usual.
  void choose(std::optional<bool> on);
  /// Why there is nothing to choose; empty: there is.
  QString refusal() const;
  /// How long the newest build of this model by this compiler took, whoever made it; nothing: none did.
  std::optional<double> lastBuildMs() const;

 signals:
  void changed();

 private:
  /// What came of building a plan.
  struct Built {
    std::string of;  ///< key()
    SharedOptional<Json> made;
    QString problem;
  };

  /// The plan on screen and who is to compile it; empty: there is none for another compiler.
  std::string key() const;
  const Built* known() const;
  bool wants() const;
  void follow();
  void start();
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
  std::string m_building;  ///< key() of what is being built
  QElapsedTimer m_elapsed;
  std::optional<double> m_lastMs;
  std::string m_lastCompiler;  ///< of m_lastMs
};

}  // namespace fusescope
