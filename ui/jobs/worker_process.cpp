#include "ui/jobs/worker_process.h"

namespace fusescope {

namespace {

constexpr int kKeptErrorBytes = 2000;
constexpr int kKilledMs = 10'000;  ///< milliseconds that a killed process may take to end on a busy machine

}  // namespace

WorkerProcess::WorkerProcess(const QString& program, QObject* parent) : QObject(parent), m_program(program) {
  connect(&m_process, &QProcess::readyReadStandardOutput, this,
          [this] { m_reader.read(m_process.readAllStandardOutput()); });
  connect(&m_process, &QProcess::readyReadStandardError, this,
          [this] { m_lastErrors = (m_lastErrors + m_process.readAllStandardError()).right(kKeptErrorBytes); });
  connect(
      &m_process, &QProcess::errorOccurred, this,
      [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;
        emit ended(QStringLiteral("the worker could not be started: %1 (%2). Building and timing need it; everything "
                                  "else goes on.")
                       .arg(m_process.errorString(), m_program),
                   false);
      },
      Qt::QueuedConnection);  // start() itself may emit it
  connect(&m_process, qOverload<int, QProcess::ExitStatus>(&QProcess::finished), this, &WorkerProcess::finished);
  connect(&m_reader, &EventReader::arrived, this, &WorkerProcess::arrived);
  connect(&m_reader, &EventReader::ended, this, [this] { emit ended(m_reason, true); });
  m_process.start(m_program, {}, QIODevice::ReadWrite);
}

WorkerProcess::~WorkerProcess() {
  m_process.disconnect(this);
  m_reader.disconnect(this);
  if (m_process.state() == QProcess::NotRunning) return;
  m_process.kill();
  m_process.waitForFinished(kKilledMs);
}

void WorkerProcess::write(const WorkerRequest& request) {
  const std::string line = workerLine(toJson(request));
  m_process.write(line.data(), static_cast<qint64>(line.size()));
}

void WorkerProcess::abandon() {
  m_process.disconnect(this);
  m_reader.disconnect(this);
  if (m_process.state() == QProcess::NotRunning) {
    deleteLater();
    return;
  }
  connect(&m_process, qOverload<int, QProcess::ExitStatus>(&QProcess::finished), this, &QObject::deleteLater);
  m_process.kill();
}

void WorkerProcess::finished(int code, QProcess::ExitStatus status) {
  m_reason = status == QProcess::CrashExit ? QStringLiteral("the worker process was killed or crashed")
                                           : QStringLiteral("the worker process ended (status %1)").arg(code);
  const QString last = QString::fromUtf8(m_lastErrors).trimmed().section(QLatin1Char('\n'), -1);
  if (!last.isEmpty()) m_reason += QStringLiteral("; it last said: ") + last;
  m_reason += QStringLiteral(". The session is unharmed; try again to start a new one.");
  m_reader.read(m_process.readAllStandardOutput());
  m_reader.end();
}

}  // namespace fusescope
