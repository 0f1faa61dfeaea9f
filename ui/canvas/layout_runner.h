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

/// Builds and lays out scenes of covers off the GUI thread. A new request replaces the running one. If the layered
/// layout crosses wires and dot is fast enough, dot is asked in its helper process, and the layout with fewer crossings
/// is used; if dot does not answer in time, the layered layout is used. A level that was laid out is kept and not laid
/// out differently later. It is used on the GUI thread only.
class LayoutRunner : public QObject {
  Q_OBJECT

 public:
  explicit LayoutRunner(QObject* parent = nullptr);
  ~LayoutRunner() override;

  /// A request. `modules` are blocks of the cover's model, or null. If `atRest` is set, it is the size of the view for
  /// which open containers are chosen (initialStates()), in place of `open`. `proportion` is the width to height of the
  /// view. `earlier` is the displayed picture of the same network, whose order is preserved; null: there is none.
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
  /// Deletes what is kept for the next scene of a cover, because nothing is displayed any more.
  void forget();
  /// Deletes a scene in the worker thread, because a scene with many boxes takes long to delete.
  void discard(std::shared_ptr<const CanvasScene> scene);
  bool isRunning() const { return m_job != nullptr; }
  /// Returns how many levels were laid out so far; reused ones are not counted. Call it while nothing is running.
  std::size_t levelsLaidOut() const { return m_cache->misses(); }

  static constexpr int kWarnAfterMs = 1'000;
  static constexpr int kMostForDotMs = 2'000;

 signals:
  void started();
  /// `open` is what is open in the scene.
  void finished(std::shared_ptr<const fusescope::CanvasScene> scene, const fusescope::OpenState& open,
                double milliseconds);
  void warning(const QString& text);

 private:
  struct Job;
  static void work(Job& job, SceneMaker& maker, LevelCache& cache);
  static Result<std::shared_ptr<const CanvasScene>> makeAtRest(Wanted& wanted, SceneMaker& maker,
                                                               const LayoutOptions& options);
  void deliver(const std::shared_ptr<Job>& job);

  // This is used by the worker thread only.
  std::shared_ptr<SceneMaker> m_maker;
  std::shared_ptr<LevelCache> m_cache;
  std::shared_ptr<Job> m_job;
  QThreadPool m_pool;
  QTimer m_warnTimer;
};

}  // namespace fusescope
