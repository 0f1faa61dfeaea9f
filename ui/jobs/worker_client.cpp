#include "ui/jobs/worker_client.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QTimer>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

constexpr int kCancelGraceMs = 4000;
constexpr int kKeptErrorBytes = 2000;

}  // namespace

QString WorkerClient::defaultProgram() {
  const QString folder = QCoreApplication::applicationDirPath();
  const QString beside = folder + QStringLiteral("/fusescope-worker");
  if (QFileInfo::exists(beside)) return beside;
  return folder + QStringLiteral("/../bin/fusescope-worker");
}

WorkerClient::WorkerClient(QString program, QObject* parent)
    : QObject(parent), m_program(program.isEmpty() ? defaultProgram() : std::move(program)) {
  connect(&m_process, &QProcess::readyReadStandardOutput, this, &WorkerClient::readLines);
  connect(&m_process, &QProcess::readyReadStandardError, this,
          [this] { m_lastErrors = (m_lastErrors + m_process.readAllStandardError()).right(kKeptErrorBytes); });
  connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      fail(QStringLiteral("the worker could not be started: %1 (%2). Building and timing need it; everything else "
                          "goes on.")
               .arg(m_process.errorString(), m_program));
    }
  });
  connect(&m_process, qOverload<int, QProcess::ExitStatus>(&QProcess::finished), this,
          [this](int code, QProcess::ExitStatus status) {
            readLines();
            if (m_killedByCancel) {
              m_killedByCancel = false;
              fail(QStringLiteral("cancelled"));
              return;
            }
            QString reason = status == QProcess::CrashExit
                                 ? QStringLiteral("the worker process was killed or crashed")
                                 : QStringLiteral("the worker process ended (status %1)").arg(code);
            const QString last = QString::fromUtf8(m_lastErrors).trimmed().section(QLatin1Char('\n'), -1);
            if (!last.isEmpty()) reason += QStringLiteral("; it last said: ") + last;
            fail(reason + QStringLiteral(". The session is unharmed; try again to start a new one."));
          });
}

WorkerClient::~WorkerClient() {
  m_process.disconnect(this);
  if (m_process.state() == QProcess::NotRunning) return;
  m_process.kill();
  m_process.waitForFinished(1000);
}

void WorkerClient::ensureStarted() {
  if (m_process.state() != QProcess::NotRunning) return;
  m_buffer.clear();
  m_lastErrors.clear();
  m_process.start(m_program, {}, QIODevice::ReadWrite);
}

std::int64_t WorkerClient::send(WorkerRequest request, QObject* receiver, Reply reply, OnProgress progress) {
  request.id = m_nextId++;
  m_pending.insert(request.id, {receiver, std::move(reply), std::move(progress)});
  ensureStarted();
  writeRequest(request);
  return request.id;
}

void WorkerClient::writeRequest(const WorkerRequest& request) {
  const std::string line = workerLine(toJson(request));
  m_process.write(line.data(), static_cast<qint64>(line.size()));
}

void WorkerClient::cancel(std::int64_t id) {
  const auto found = m_pending.find(id);
  if (found == m_pending.end() || found->cancelled) return;
  found->cancelled = true;
  WorkerRequest request;
  request.id = m_nextId++;
  request.op = WorkerOp::Cancel;
  request.cancels = id;
  writeRequest(request);
  QTimer::singleShot(kCancelGraceMs, this, [this, id] {
    if (!m_pending.contains(id)) return;
    m_killedByCancel = true;
    m_process.kill();
  });
}

void WorkerClient::readLines() {
  m_buffer += m_process.readAllStandardOutput();
  int end = 0;
  while ((end = m_buffer.indexOf('\n')) >= 0) {
    const QByteArray line = m_buffer.left(end);
    m_buffer.remove(0, end + 1);
    if (line.trimmed().isEmpty()) continue;
    const auto event = parseWorkerEvent(std::string_view(line.constData(), static_cast<std::size_t>(line.size())));
    if (event.ok()) handle(event.value());
  }
}

void WorkerClient::handle(const WorkerEvent& event) {
  const auto found = m_pending.find(event.id);
  if (found == m_pending.end()) return;
  if (event.kind == WorkerEventKind::Progress) {
    if (found->receiver && found->progress) found->progress(qs(event.phase), qs(event.detail));
    return;
  }
  const Pending pending = *found;
  m_pending.erase(found);
  if (!pending.receiver) return;
  if (event.kind == WorkerEventKind::Done) {
    pending.reply(Result<Json>(event.result));
  } else {
    pending.reply(Result<Json>(event.error));
  }
}

void WorkerClient::fail(const QString& reason) {
  const auto pending = std::exchange(m_pending, {});
  const bool onlyCancelled = reason == QStringLiteral("cancelled");
  if (!onlyCancelled) emit workerDied(reason);
  for (const Pending& request : pending) {
    if (!request.receiver) continue;
    Diagnostic error = request.cancelled ? Diagnostic::cancellation() : Diagnostic{.message = reason.toStdString()};
    request.reply(Result<Json>(std::move(error)));
  }
}

}  // namespace fusescope
