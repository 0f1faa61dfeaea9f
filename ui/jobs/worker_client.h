#pragma once

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QPointer>
#include <QProcess>
#include <functional>

#include "session/worker_protocol.h"

namespace fusescope {

/// Speaks with the worker process, which builds, runs and times engines: one JSON object a line
/// (app/worker/PROTOCOL.md). The process starts with the first request. If it dies, the requests in flight fail with a
/// message that says so, and the next request starts another. Never waits; everything is delivered in the GUI thread.
class WorkerClient : public QObject {
  Q_OBJECT

 public:
  using Reply = std::function<void(const Result<Json>&)>;
  using OnProgress = std::function<void(const QString& phase, const QString& detail)>;

  /// `program`: the worker's executable; by default fusescope-worker beside this one.
  explicit WorkerClient(QString program = {}, QObject* parent = nullptr);
  ~WorkerClient() override;

  /// `request.id` is chosen here and returned. `reply` is called once, unless `receiver` dies first.
  std::int64_t send(WorkerRequest request, QObject* receiver, Reply reply, OnProgress progress = {});
  /// Asks the worker to stop. One that does not answer within a few seconds is killed: a compiler cannot be asked.
  void cancel(std::int64_t id);
  bool busy() const { return !m_pending.isEmpty(); }
  /// Zero when no worker runs.
  std::int64_t processId() const { return m_process.processId(); }
  /// Where the worker is looked for: beside the executable, else one folder up in bin/.
  static QString defaultProgram();

 signals:
  /// The worker ended without being told to; `message` is for people.
  void workerDied(const QString& message);

 private:
  struct Pending {
    QPointer<QObject> receiver;
    Reply reply;
    OnProgress progress;
    bool cancelled = false;
  };

  void ensureStarted();
  void readLines();
  void handle(const WorkerEvent& event);
  void fail(const QString& reason);
  void writeRequest(const WorkerRequest& request);

  QString m_program;
  QProcess m_process;
  QByteArray m_buffer;
  QByteArray m_lastErrors;  ///< the end of the worker's standard error
  QHash<std::int64_t, Pending> m_pending;
  std::int64_t m_nextId = 1;
  bool m_killedByCancel = false;
};

}  // namespace fusescope
