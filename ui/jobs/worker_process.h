#pragma once

#include <QByteArray>
#include <QProcess>

#include "ui/jobs/event_reader.h"

namespace fusescope {

/// One worker process, from its start to its end. Never waits, but its destructor for a process that it has killed.
class WorkerProcess : public QObject {
  Q_OBJECT

 public:
  explicit WorkerProcess(const QString& program, QObject* parent = nullptr);
  ~WorkerProcess() override;

  void write(const WorkerRequest& request);
  EventReader& events() { return m_reader; }
  std::int64_t id() const { return m_process.processId(); }
  /// Ends the process at once and then deletes this object; nothing more is heard of it.
  void abandon();

 signals:
  void arrived(const std::vector<fusescope::EventReader::Event>& events);
  /// The process is gone, and all that it wrote has arrived; `reason` is for people. `couldRun`: false if it could not
  /// even be started.
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
