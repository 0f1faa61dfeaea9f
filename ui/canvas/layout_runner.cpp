#include "ui/canvas/layout_runner.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QRunnable>
#include <functional>

namespace fusescope {
namespace {

class Task : public QRunnable {
 public:
  explicit Task(std::function<void()> work) : m_work(std::move(work)) {}
  void run() override { m_work(); }

 private:
  std::function<void()> m_work;
};

QString helperPath() {
  return QCoreApplication::applicationDirPath() + "/fusescope-layoutd";
}

}  // namespace

/// One request on its way. Touched by one thread at a time: the GUI's, or the worker's while it works.
struct LayoutRunner::Job {
  std::shared_ptr<const Plan> plan;
  OpenState open;
  std::stop_source stop;
  QElapsedTimer clock;
  std::shared_ptr<CanvasScene> scene;
  LayoutGraph graph;
  QByteArray forHelper;  // empty: too large for it
  QByteArray fromHelper;
  QString problem;  // of the last attempt
};

LayoutRunner::LayoutRunner(QObject* parent) : QObject(parent), m_fonts(std::make_shared<CanvasFonts>()) {
  m_pool.setMaxThreadCount(1);
  m_warnTimer.setSingleShot(true);
  m_giveUpTimer.setSingleShot(true);
  connect(&m_warnTimer, &QTimer::timeout, this, [this] {
    emit warning(tr("The layout takes longer than a second; the picture stays as it is until it is done."));
  });
  connect(&m_giveUpTimer, &QTimer::timeout, this, [this] {
    const std::shared_ptr<Job> job = m_job;
    stopHelper();
    layInThread(
        job, tr("Graphviz took longer than %1 s; drawn with the layered layout instead.").arg(kGiveUpAfterMs / 1000));
  });
}

LayoutRunner::~LayoutRunner() {
  cancel();
  m_pool.waitForDone();
}

void LayoutRunner::cancel() {
  if (m_job) m_job->stop.request_stop();
  m_job.reset();
  stopHelper();
  m_running = false;
}

void LayoutRunner::discard(std::shared_ptr<const CanvasScene> scene) {
  m_pool.start(new Task([scene = std::move(scene)]() mutable { scene.reset(); }));
}

void LayoutRunner::stopHelper() {
  m_warnTimer.stop();
  m_giveUpTimer.stop();
  if (m_helper == nullptr) return;
  m_helper->disconnect(this);
  // The process object outlives the process: it is killed now and deleted when the kernel has told so.
  connect(m_helper, qOverload<int, QProcess::ExitStatus>(&QProcess::finished), m_helper, &QObject::deleteLater);
  if (m_helper->state() == QProcess::NotRunning) m_helper->deleteLater();
  m_helper->kill();
  m_helper = nullptr;
}

// Runs `work(job)` in the worker and then, if the job is still wanted, `then(job)` here.
template <class Work, class Then>
void LayoutRunner::inThread(std::shared_ptr<Job> job, Work work, Then then) {
  m_pool.start(new Task([this, job, work, then] {
    if (!job->stop.stop_requested()) work(*job);
    QMetaObject::invokeMethod(
        this,
        [this, job, then] {
          if (job == m_job) then(job);
        },
        Qt::QueuedConnection);
  }));
}

void LayoutRunner::request(std::shared_ptr<const Plan> plan, OpenState open) {
  cancel();
  auto job = std::make_shared<Job>();
  job->plan = std::move(plan);
  job->open = std::move(open);
  job->clock.start();
  m_job = job;
  m_running = true;
  emit started();
  m_warnTimer.start(kWarnAfterMs);
  inThread(
      job,
      [fonts = m_fonts](Job& j) {
        j.scene = std::make_shared<CanvasScene>(buildCanvas(*j.plan, j.open, *fonts));
        j.graph = layoutGraphOf(*j.scene);
        if (j.scene->boxes <= kLargestForHelper) j.forHelper = QByteArray::fromStdString(toJson(j.graph).dump());
      },
      [this](std::shared_ptr<Job> j) { prepared(std::move(j)); });
}

void LayoutRunner::prepared(std::shared_ptr<Job> job) {
  if (job->forHelper.isEmpty()) return layInThread(job, {});
  if (!QFileInfo(helperPath()).isExecutable()) {
    return layInThread(job, tr("The layout helper fusescope-layoutd is not beside the program; drawn with the layered "
                               "layout instead."));
  }
  startHelper(std::move(job));
}

void LayoutRunner::startHelper(std::shared_ptr<Job> job) {
  m_helper = new QProcess(this);
  connect(m_helper, qOverload<int, QProcess::ExitStatus>(&QProcess::finished), this,
          [this, job](int exitCode, QProcess::ExitStatus status) { helperFinished(job, exitCode, status); });
  connect(m_helper, &QProcess::errorOccurred, this, [this, job](QProcess::ProcessError error) {
    if (error != QProcess::FailedToStart) return;
    stopHelper();
    layInThread(job, tr("The layout helper could not be started; drawn with the layered layout instead."));
  });
  m_giveUpTimer.start(kGiveUpAfterMs);
  m_helper->start(helperPath(), QStringList());
  m_helper->write(job->forHelper);
  m_helper->closeWriteChannel();
}

void LayoutRunner::helperFinished(std::shared_ptr<Job> job, int exitCode, QProcess::ExitStatus status) {
  job->fromHelper = m_helper->readAllStandardOutput();
  stopHelper();
  if (status != QProcess::NormalExit || exitCode != 0) {
    return layInThread(job, tr("The layout helper ended before it was done; drawn with the layered layout instead."));
  }
  inThread(
      job,
      [](Job& j) {
        const Json json =
            Json::parse(j.fromHelper.constData(), j.fromHelper.constData() + j.fromHelper.size(), nullptr, false);
        const Result<LayoutGeometry> geometry = layoutGeometryFromJson(json);
        const Status applied = geometry.ok() ? applyGeometry(*j.scene, geometry.value()) : Status(geometry.error());
        j.problem = applied.ok() ? QString() : QString::fromStdString(applied.error().text());
      },
      [this](std::shared_ptr<Job> j) {
        if (j->problem.isEmpty()) return deliver(j);
        layInThread(j, tr("The layout helper's answer cannot be used (%1); drawn with the layered layout instead.")
                           .arg(j->problem));
      });
}

void LayoutRunner::layInThread(std::shared_ptr<Job> job, const QString& reason) {
  if (!job) return;
  if (!reason.isEmpty()) emit warning(reason);
  inThread(
      job,
      [](Job& j) {
        const Result<LayoutGeometry> geometry = layoutLayered(j.graph, j.stop.get_token());
        const Status applied = geometry.ok() ? applyGeometry(*j.scene, geometry.value()) : Status(geometry.error());
        j.problem = applied.ok() ? QString() : QString::fromStdString(applied.error().text());
      },
      [this](std::shared_ptr<Job> j) {
        if (j->problem.isEmpty()) return deliver(j);
        m_running = false;
        m_warnTimer.stop();
        emit warning(tr("The graph could not be laid out: %1").arg(j->problem));
      });
}

void LayoutRunner::deliver(std::shared_ptr<Job> job) {
  m_running = false;
  m_warnTimer.stop();
  m_giveUpTimer.stop();
  m_job.reset();
  emit finished(job->scene, double(job->clock.nsecsElapsed()) / 1e6);
}

}  // namespace fusescope
