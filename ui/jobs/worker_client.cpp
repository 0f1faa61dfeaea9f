#include "ui/jobs/worker_client.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QTimer>
#include <utility>

namespace fusescope {

QString WorkerClient::defaultProgram() {
  const QString folder = QCoreApplication::applicationDirPath();
  const QString beside = folder + QStringLiteral("/fusescope-worker");
  if (QFileInfo::exists(beside)) return beside;
  return folder + QStringLiteral("/../bin/fusescope-worker");
}

WorkerClient::WorkerClient(QString program, QObject* parent)
    : QObject(parent), m_program(program.isEmpty() ? defaultProgram() : std::move(program)) {}

WorkerClient::~WorkerClient() = default;

std::int64_t WorkerClient::send(WorkerRequest request, QObject* receiver, Reply reply, OnProgress progress) {
  return submit(
      std::move(request), receiver,
      [](Result<Json> json) -> std::shared_ptr<void> { return std::make_shared<Result<Json>>(std::move(json)); },
      [reply = std::move(reply)](void* answer) { reply(*static_cast<const Result<Json>*>(answer)); },
      std::move(progress));
}

std::int64_t WorkerClient::submit(WorkerRequest request, QObject* receiver, EventReader::Decode decode, Deliver deliver,
                                  OnProgress progress) {
  const std::int64_t id = m_nextId++;
  request.id = id;
  if (m_pending.empty() && std::exchange(m_isOld, false) && m_worker != nullptr)
    std::exchange(m_worker, nullptr)->abandon();
  const auto [entry, added] = m_pending.emplace(
      id, Pending{std::move(request), receiver, std::move(decode), std::move(deliver), std::move(progress)});
  hand(entry->second);
  return id;
}

void WorkerClient::hand(const Pending& pending) {
  if (m_worker == nullptr) startWorker();
  m_worker->events().expect(pending.request.id, pending.decode);
  m_worker->write(pending.request);
}

void WorkerClient::startWorker() {
  m_worker = new WorkerProcess(m_program, this);
  connect(m_worker, &WorkerProcess::arrived, this, &WorkerClient::take);
  connect(m_worker, &WorkerProcess::ended, this, &WorkerClient::workerEnded);
}

void WorkerClient::cancel(std::int64_t id) {
  const auto found = m_pending.find(id);
  if (found == m_pending.end() || found->second.cancelled) return;
  found->second.cancelled = true;
  writeCancel(id);
  QTimer::singleShot(kCancelGraceMs, this, [this, id] { giveUp(id); });
}

void WorkerClient::finish(std::int64_t id) {
  if (m_pending.contains(id)) writeCancel(id);
}

void WorkerClient::writeCancel(std::int64_t id) {
  WorkerRequest request;
  request.id = m_nextId++;
  request.settings = CancelSettings{.cancels = id};
  m_worker->write(request);
}

void WorkerClient::giveUp(std::int64_t id) {
  const auto found = m_pending.find(id);
  if (found == m_pending.end()) return;
  if (found == m_pending.begin()) {
    answer(replaceWorker(), Diagnostic::cancellation());
    return;
  }
  // The worker is working on another request, which must not be lost because of this one. When it reaches this request,
  // it is told not to answer.
  QTimer::singleShot(kCancelGraceMs, this, [this, id] { giveUp(id); });
  answer(found->second, Diagnostic::cancellation());
}

std::vector<WorkerClient::Pending> WorkerClient::replaceWorker() {
  if (m_worker != nullptr) std::exchange(m_worker, nullptr)->abandon();
  std::vector<Pending> cancelled;
  for (auto entry = m_pending.begin(); entry != m_pending.end();) {
    if (entry->second.cancelled) {
      cancelled.push_back(std::move(entry->second));
      entry = m_pending.erase(entry);
    } else {
      hand(entry->second);
      ++entry;
    }
  }
  return cancelled;
}

void WorkerClient::take(const std::vector<EventReader::Event>& events) {
  for (const EventReader::Event& event : events) {
    const auto found = m_pending.find(event.id);
    if (found == m_pending.end()) continue;
    if (event.answer == nullptr) {
      // These are copies, because the called function may send, cancel or remove a request.
      const OnProgress progress = found->second.progress;
      if (found->second.cancelled) continue;
      const WorkSettings work = found->second.request.settings;
      if (progress && found->second.receiver) progress(event.phase, event.detail);
      emit progressReported(work, event.phase, event.detail);
      continue;
    }
    const Pending pending = std::move(found->second);
    m_pending.erase(found);
    if (pending.answered) continue;
    emit progressReported(pending.request.settings, {}, {});
    if (pending.receiver) pending.deliver(event.answer.get());
  }
}

void WorkerClient::workerEnded(const QString& reason, bool couldRun) {
  std::exchange(m_worker, nullptr)->deleteLater();
  std::vector<Pending> failed;
  while (!m_pending.empty() && (failed.empty() || !couldRun)) {
    auto first = m_pending.extract(m_pending.begin());
    failed.push_back(std::move(first.mapped()));
  }
  std::vector<Pending> cancelled = replaceWorker();
  emit workerDied(reason);
  answer(std::move(failed), {.message = reason.toStdString()});
  answer(std::move(cancelled), Diagnostic::cancellation());
}

void WorkerClient::answer(std::vector<Pending> pending, const Diagnostic& error) {
  for (Pending& request : pending) answer(request, request.cancelled ? Diagnostic::cancellation() : error);
}

void WorkerClient::answer(Pending& pending, const Diagnostic& error) {
  if (std::exchange(pending.answered, true)) return;
  emit progressReported(pending.request.settings, {}, {});
  if (!pending.receiver) return;
  const Deliver deliver = pending.deliver;  // the called function may remove the request
  deliver(pending.decode(Result<Json>(error)).get());
}

}  // namespace fusescope
