#pragma once

#include <QObject>
#include <QPointer>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

#include "ui/jobs/worker_process.h"

namespace fusescope {

/// Communicates with the worker process, which builds, runs and times engines, by one JSON object per line
/// (app/worker/PROTOCOL.md). The process is started by the first request. If it dies, the request that it worked on
/// fails with a message that says so; later requests go to a new process. It never blocks; everything is delivered on
/// the GUI thread, in the order in which the worker sent it.
class WorkerClient : public QObject {
  Q_OBJECT

 public:
  using Reply = std::function<void(const Result<Json>&)>;
  using OnProgress = std::function<void(const QString& phase, const QString& detail)>;

  /// How long the worker may take to answer after a cancel before it is replaced.
  static constexpr int kCancelGraceMs = 200;

  /// `program` is the worker's executable; by default fusescope-worker beside this program.
  explicit WorkerClient(QString program = {}, QObject* parent = nullptr);
  ~WorkerClient() override;

  /// Sends a request. `request.id` is set here and returned. `reply` is called once, unless `receiver` is destroyed
  /// first. `progress` is called for each phase, and within a phase with the latest detail, as often as the GUI thread
  /// has time.
  std::int64_t send(WorkerRequest request, QObject* receiver, Reply reply, OnProgress progress = {});
  /// Does the same with `decode`, from const Json& to Result<T>, which is called off the GUI thread because decoding
  /// may take long. `reply` takes a Result<T>&, from which it may move.
  template <class DecodeAnswer, class ReplyTo>
  std::int64_t sendDecoded(WorkerRequest request, QObject* receiver, DecodeAnswer decode, ReplyTo reply,
                           OnProgress progress = {}) {
    using Answer = std::invoke_result_t<DecodeAnswer, const Json&>;
    return submit(
        std::move(request), receiver,
        [decode = std::move(decode)](Result<Json> json) -> std::shared_ptr<void> {
          return std::make_shared<Answer>(json.ok() ? decode(json.value()) : Answer(json.error()));
        },
        [reply = std::move(reply)](void* answer) { reply(*static_cast<Answer*>(answer)); }, std::move(progress));
  }
  /// Stops a request, which is then answered as cancelled. A worker that does not stop within kCancelGraceMs is killed
  /// and replaced, and waiting requests are sent to the new one in the same order.
  void cancel(std::int64_t id);
  /// Asks a request that can return its best result so far (`tune`) to end with that; it is then answered as usual.
  void finish(std::int64_t id);
  /// Makes the next request use a new process if no request is running, because what the process knows about the
  /// machine may be outdated.
  void renew() { m_isOld = true; }
  /// Sets the program that is started next.
  void setProgram(const QString& program) { m_program = program; }
  bool busy() const { return !m_pending.empty(); }
  /// Returns 0 if no worker is running.
  std::int64_t processId() const { return m_worker ? m_worker->id() : 0; }
  /// Returns where the worker is searched for: beside the executable, otherwise one folder up in bin/.
  static QString defaultProgram();

 signals:
  /// The worker ended unexpectedly; `message` is for people.
  void workerDied(const QString& message);
  /// Reports the progress of a request to receivers other than its sender; `phase` is empty when it is answered.
  void progressReported(const fusescope::WorkSettings& work, const QString& phase, const QString& detail);

 private:
  using Deliver = std::function<void(void* answer)>;
  struct Pending {
    WorkerRequest request;
    QPointer<QObject> receiver;
    EventReader::Decode decode;
    Deliver deliver;
    OnProgress progress;
    bool cancelled = false;
    bool answered = false;  ///< whether it was answered as cancelled although the worker is still working on it
  };

  std::int64_t submit(WorkerRequest request, QObject* receiver, EventReader::Decode decode, Deliver deliver,
                      OnProgress progress);
  void hand(const Pending& pending);
  void writeCancel(std::int64_t id);
  void startWorker();
  void take(const std::vector<EventReader::Event>& events);
  void giveUp(std::int64_t id);
  /// Sends the requests that were not cancelled to a new worker, in order, and returns the others.
  [[nodiscard]] std::vector<Pending> replaceWorker();
  void answer(std::vector<Pending> pending, const Diagnostic& error);
  void workerEnded(const QString& reason, bool couldRun);
  void answer(Pending& pending, const Diagnostic& error);

  QString m_program;
  WorkerProcess* m_worker = nullptr;          ///< a child of this object; null if none is running
  std::map<std::int64_t, Pending> m_pending;  ///< in the order of sending; the worker is working on the first one
  std::int64_t m_nextId = 1;
  bool m_isOld = false;  ///< whether m_worker must be replaced
};

}  // namespace fusescope
