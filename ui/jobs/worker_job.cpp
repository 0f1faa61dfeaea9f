#include "ui/jobs/worker_job.h"

namespace fusescope {

namespace {

constexpr int kJobClockMs = 250;

}  // namespace

WorkerJob::WorkerJob(WorkerClient& worker, QObject* parent) : QObject(parent), m_worker(worker) {
  m_clock.setInterval(kJobClockMs);
  connect(&m_clock, &QTimer::timeout, this, &WorkerJob::changed);
}

WorkerJob::~WorkerJob() {
  if (working()) m_worker.cancel(m_request);
}

void WorkerJob::listenTo(const QString& phase, std::function<void(const QString& detail)> listen) {
  m_listeners[phase] = std::move(listen);
}

void WorkerJob::begin() {
  m_said = QStringLiteral("starting");
  m_elapsed.start();
  m_clock.start();
}

void WorkerJob::end() {
  m_request = 0;
  m_clock.stop();
}

void WorkerJob::heard(const QString& phase, const QString& detail) {
  if (const auto listener = m_listeners.find(phase); listener != m_listeners.end()) return listener->second(detail);
  m_said = detail.isEmpty() ? phase : QStringLiteral("%1 · %2").arg(phase, detail);
}

void WorkerJob::cancel() {
  if (!working()) return;
  m_said = QStringLiteral("cancelling");
  m_worker.cancel(m_request);
  emit changed();
}

void WorkerJob::finish() {
  if (!working()) return;
  m_said = QStringLiteral("stopping");
  m_worker.finish(m_request);
  emit changed();
}

QString WorkerJob::text() const {
  if (!working()) return {};
  return QStringLiteral("%1 s  %2").arg(double(m_elapsed.elapsed()) / 1000, 0, 'f', 1).arg(m_said);
}

}  // namespace fusescope
