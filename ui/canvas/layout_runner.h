#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <stop_token>

#include "layout/level_cache.h"
#include "ui/canvas/scene_maker.h"

namespace fusescope {

/// Turns covers into laid-out scenes off the GUI thread. A new request replaces the one under way. Where the layered
/// layout crosses wires and dot is quick, dot is asked in its helper process; what crosses less is taken, and if dot
/// does not answer in time, the layered layout stands: a level that was laid out is kept and never drawn otherwise
/// later. GUI thread only.
class LayoutRunner : public QObject {
  Q_OBJECT

 public:
  explicit LayoutRunner(QObject* parent = nullptr);
  ~LayoutRunner() override;

  /// What is to be drawn. `modules`: blocks of the cover's model, or null. `atRest`: the size of the view for which
  /// what is open is chosen (statesAtRest()) in place of `open`. `proportion`: width to height of where it will be
  /// seen. `earlier`: the picture that is shown now, if it is of the same network, whose order is kept; null: there is
  /// none.
  struct Wanted {
    std::shared_ptr<const Cover> cover;
    std::shared_ptr<const ModuleTree> modules{};
    OpenState open{};
    std::optional<QSizeF> atRest{};
    double proportion = 0;
    std::shared_ptr<const CanvasScene> earlier{};
  };
  void request(Wanted wanted);
  void cancel();
  /// Nothing is shown any more: lets go of what is kept for the next scene of a cover.
  void forget();
  /// Lets go of a scene in the worker thread: that of many boxes takes long to take apart.
  void discard(std::shared_ptr<const CanvasScene> scene);
  bool isRunning() const { return m_job != nullptr; }
  /// Levels that were laid out so far; those that were kept from before are not counted. When nothing runs.
  std::size_t levelsLaidOut() const { return m_cache->misses(); }

  static constexpr int kWarnAfterMs = 1'000;
  static constexpr int kMostForDotMs = 2'000;

 signals:
  void started();
  /// `open`: what is open in the scene.
  void finished(std::shared_ptr<const fusescope::CanvasScene> scene, const fusescope::OpenState& open,
                double milliseconds);
  void warning(const QString& text);

 private:
  struct Job;
  static void work(Job& job, SceneMaker& maker, LevelCache& cache);
  static Result<std::shared_ptr<const CanvasScene>> makeAtRest(Wanted& wanted, SceneMaker& maker,
                                                               const LayoutOptions& options);
  void deliver(const std::shared_ptr<Job>& job);

  // The worker's.
  std::shared_ptr<SceneMaker> m_maker;
  std::shared_ptr<LevelCache> m_cache;
  std::shared_ptr<Job> m_job;
  QThreadPool m_pool;
  QTimer m_warnTimer;
};

}  // namespace fusescope
