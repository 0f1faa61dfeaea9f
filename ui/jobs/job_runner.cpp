#include "ui/jobs/job_runner.h"

#include <QRunnable>
#include <utility>

namespace fusescope {

JobRunner::JobRunner(QObject* parent) : QObject(parent) {
  // Planning, a layout and the opening of a model may run at the same time, each on one thread.
  m_pool.setMaxThreadCount(4);
}

JobRunner::~JobRunner() {
  for (const auto& lane : m_lanes) {
    lane->waiting.reset();
    lane->stop.request_stop();
  }
  m_pool.waitForDone();
}

void JobRunner::submit(const QString& tag, QObject* receiver, Work work, Deliver deliver) {
  auto& lane = m_lanes[tag];
  if (!lane) lane = std::make_shared<Lane>();
  Job job{receiver, std::move(work), std::move(deliver)};
  if (!lane->running) {
    start(tag, std::move(job));
    return;
  }
  lane->wanted = false;
  lane->stop.request_stop();
  lane->waiting = std::move(job);
}

void JobRunner::start(const QString& tag, Job job) {
  const auto lane = m_lanes[tag];
  lane->running = true;
  lane->wanted = true;
  lane->stop = std::stop_source();
  // `this` exists longer than the runnable, because the destructor waits for the pool. Qt drops calls that are queued
  // to a destroyed runner.
  m_pool.start(QRunnable::create([this, tag, job = std::move(job), token = lane->stop.get_token()]() mutable {
    // What the work captured is freed here.
    std::shared_ptr<const void> result = std::exchange(job.work, nullptr)(token);
    QMetaObject::invokeMethod(
        this, [this, tag, job = std::move(job), result = std::move(result)]() mutable { finished(tag, job, result); },
        Qt::QueuedConnection);
  }));
  emit activityChanged();
}

void JobRunner::finished(const QString& tag, const Job& job, std::shared_ptr<const void>& result) {
  const auto lane = m_lanes[tag];
  const bool wanted = lane->wanted;
  lane->running = false;
  lane->wanted = false;
  if (lane->waiting) {
    Job next = std::move(*lane->waiting);
    lane->waiting.reset();
    start(tag, std::move(next));
  }
  if (wanted && job.receiver) job.deliver(result);
  // If nobody else has kept the result, it is freed on another thread.
  m_pool.start(QRunnable::create([result = std::move(result)]() mutable { result.reset(); }));
  emit activityChanged();
}

void JobRunner::cancel(const QString& tag) {
  const auto lane = m_lanes.value(tag);
  if (!lane) return;
  lane->waiting.reset();
  lane->wanted = false;
  lane->stop.request_stop();
}

bool JobRunner::busy(const QString& tag) const {
  const auto lane = m_lanes.value(tag);
  return lane && (lane->wanted || lane->waiting);
}

bool JobRunner::idle() const {
  for (const auto& lane : m_lanes) {
    if (lane->running || lane->waiting) return false;
  }
  return true;
}

}  // namespace fusescope
