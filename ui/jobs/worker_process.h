#pragma once

#include <QByteArray>
#include <QProcess>

#include "ui/jobs/event_reader.h"

namespace fusescope {

/// One worker process, from its start to its end. It never blocks, except in the destructor, which waits for a process
/// that it killed.
class WorkerProcess : public QObject {
  Q_OBJECT

 public:
  explicit WorkerProcess(const QString& program, QObject* parent = nullptr);
  ~WorkerProcess() override;

  void write(const WorkerRequest& request);
  EventReader& events() { return m_reader; }
  std::int64_t id() const { return m_process.processId(); }
  /// Kills the process at once and then deletes this object; it emits nothing more.
  void abandon();

 signals:
  void arrived(const std::vector<fusescope::EventReader::Event>& events);
  /// The process has ended, and everything that it wrote was delivered; `reason` is for people. `couldRun` is false if
  /// it could not be started.
  void ended(const QString& reason, bool couldRun);

 private:
  void finished(int code, QProcess::ExitStatus status);

  QString m_program;
  QProcess m_process;
  EventReader m_reader;
  QByteArray m_lastErrors;  ///< the end of its standard error
  QString m_reason;
};

}  // namespace fusescope
