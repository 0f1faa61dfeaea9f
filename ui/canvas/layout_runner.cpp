#include "ui/canvas/layout_runner.h"

#include <QRunnable>
#include <functional>

#include "ui/canvas/camera.h"
#include "ui/canvas/dot_helper.h"

namespace fusescope {
namespace {

class Task : public QRunnable {
 public:
  explicit Task(std::function<void()> work) : m_work(std::move(work)) {}
  void run() override { m_work(); }

 private:
  std::function<void()> m_work;
};

// This share leaves a margin, so that a slightly smaller canvas still shows the whole picture.
constexpr double kSureOfView = 0.94;

/// Returns whether titles are legible if all of `picture` is shown.
bool isLegible(const QRectF& picture, const QSizeF& view) {
  Camera camera;
  camera.show(picture, view, Camera::kMargin, 1.0);
  return camera.zoom >= Camera::kLegible;
}

}  // namespace

/// One request. It is used by one thread at a time: by the GUI thread, or by the worker thread while it works.
struct LayoutRunner::Job {
  Wanted wanted;
  std::stop_source stop;
  QElapsedTimer clock;
  std::shared_ptr<const CanvasScene> scene;
  QString problem;  // why there is no scene
  QString warning;  // why the scene is not as good as it could be
};

LayoutRunner::LayoutRunner(QObject* parent)
    : QObject(parent),
      m_maker(std::make_shared<SceneMaker>(std::make_shared<CanvasFonts>())),
      m_cache(std::make_shared<LevelCache>()) {
  m_pool.setMaxThreadCount(1);
  m_warnTimer.setSingleShot(true);
  connect(&m_warnTimer, &QTimer::timeout, this, [this] {
    emit warning(tr("The layout takes longer than a second; the picture stays as it is until it is done."));
  });
}

LayoutRunner::~LayoutRunner() {
  cancel();
  m_pool.waitForDone();
}

void LayoutRunner::cancel() {
  if (m_job) m_job->stop.request_stop();
  m_job.reset();
  m_warnTimer.stop();
}

void LayoutRunner::forget() {
  cancel();
  m_pool.start(new Task([maker = m_maker] { maker->forget(); }));
}

void LayoutRunner::discard(std::shared_ptr<const CanvasScene> scene) {
  m_pool.start(new Task([scene = std::move(scene)]() mutable { scene.reset(); }));
}

void LayoutRunner::request(Wanted wanted) {
  cancel();
  auto job = std::make_shared<Job>();
  job->wanted = std::move(wanted);
  job->clock.start();
  m_job = job;
  emit started();
  m_warnTimer.start(kWarnAfterMs);
  m_pool.start(new Task([this, job, maker = m_maker, cache = m_cache] {
    if (!job->stop.stop_requested()) work(*job, *maker, *cache);
    QMetaObject::invokeMethod(
        this,
        [this, job] {
          if (job == m_job) deliver(job);
        },
        Qt::QueuedConnection);
  }));
}

/// Opens as many blocks as possible with which the whole picture is still legible. This is found by making layouts.
Result<std::shared_ptr<const CanvasScene>> LayoutRunner::makeAtRest(Wanted& wanted, SceneMaker& maker,
                                                                    const LayoutOptions& options) {
  const std::vector<OpenState> states = initialStates(*maker.partsOf(wanted.cover, wanted.modules), *wanted.atRest);
  wanted.open = states.front();
  auto best = maker.make(wanted.cover, wanted.open, options, wanted.modules);
  for (std::size_t legible = 0, beyond = states.size(); best.ok() && beyond - legible > 1;) {
    const std::size_t middle = (legible + beyond) / 2;
    auto scene = maker.make(wanted.cover, states[middle], options, wanted.modules);
    if (!scene.ok()) return scene;
    if (isLegible(scene.value()->bounds, kSureOfView * *wanted.atRest)) {
      legible = middle;
      wanted.open = states[middle];
      best = std::move(scene);
    } else {
      beyond = middle;
    }
  }
  return best;
}

void LayoutRunner::work(Job& job, SceneMaker& maker, LevelCache& cache) {
  DotHelper dot(job.stop.get_token(), kMostForDotMs);
  Wanted& wanted = job.wanted;
  LayoutOptions options{.dot = [&](const LevelGraph& level) { return dot.layOut(level); },
                        .cache = &cache,
                        .stop = job.stop.get_token(),
                        .proportion = wanted.proportion};
  if (wanted.earlier) options.earlier = pictureOf(*wanted.earlier);
  auto scene = wanted.atRest ? makeAtRest(wanted, maker, options)
                             : maker.make(wanted.cover, wanted.open, options, wanted.modules);
  if (scene.ok()) {
    job.scene = std::move(scene).value();
  } else {
    job.problem = QString::fromStdString(scene.error().text());
  }
  job.warning = dot.problem();
  wanted.earlier.reset();
}

void LayoutRunner::deliver(const std::shared_ptr<Job>& job) {
  m_warnTimer.stop();
  m_job.reset();
  if (!job->warning.isEmpty()) emit warning(job->warning);
  if (!job->problem.isEmpty()) return emit warning(tr("The graph could not be laid out: %1").arg(job->problem));
  emit finished(job->scene, job->wanted.open, double(job->clock.nsecsElapsed()) / 1e6);
}

}  // namespace fusescope
