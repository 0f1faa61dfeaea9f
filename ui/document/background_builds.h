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

/// Finds out what the chosen compiler makes of the displayed plan, by a build in the background whenever the plan
/// changes: the prediction is displayed at once, and is replaced by what was made when that is known. An edit ends the
/// build of the previous plan together with its process. A background build is not a run: nothing is timed, and only
/// what was made is kept, for the latest plans of the model. Nothing is built while the RunController works, because it
/// may be timing. Our own compiler needs none of this, because its plan is what runs. It is used on the GUI thread
/// only, and never blocks.
class BackgroundBuilds : public QObject {
  Q_OBJECT

 public:
  static constexpr int kSettleMs = 400;           ///< how long a plan must be unchanged before it is built
  static constexpr double kLongBuildMs = 30'000;  ///< longer builds are started only if the user chose so
  static constexpr std::size_t kMostKept = 16;

  /// `worker` must be a separate process, because that of the controller does one piece of work at a time.
  BackgroundBuilds(PlanDocument& document, Runs& runs, const RunController& controller, WorkerClient& worker,
                   QObject* parent = nullptr);

  enum class State {
    None,     ///< there is no plan for another compiler
    Off,      ///< the user switched background builds off, or they take too long
    Waiting,  ///< for the plan to settle, or for the controller
    Building,
    Made,   ///< the build succeeded
    Failed  ///< problem() says why it failed
  };
  State state() const;
  /// Returns what a background build made of the displayed plan, if there was one.
  SharedOptional<Json> made() const;
  QString problem() const;
  qint64 elapsedMs() const { return m_request != 0 ? m_elapsed.elapsed() : 0; }

  /// Returns whether plans are built while the user edits: as chosen, or by default unless the last build took longer
  /// than kLongBuildMs.
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
