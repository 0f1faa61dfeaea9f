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

/// Speaks with the worker process, which builds, runs and times engines: one JSON object a line
/// (app/worker/PROTOCOL.md). The process starts with the first request. If it dies, the request that it worked on fails
/// with a message that says so; those behind it, and the next ones, go to another. Never waits; everything is delivered
/// in the GUI thread, in the order in which the worker said it.
class WorkerClient : public QObject {
  Q_OBJECT

 public:
  using Reply = std::function<void(const Result<Json>&)>;
  using OnProgress = std::function<void(const QString& phase, const QString& detail)>;

  /// After a cancel, so long may the worker take to answer before it is replaced.
  static constexpr int kCancelGraceMs = 200;

  /// `program`: the worker's executable; by default fusescope-worker beside this one.
  explicit WorkerClient(QString program = {}, QObject* parent = nullptr);
  ~WorkerClient() override;

  /// `request.id` is chosen here and returned. `reply` is called once, unless `receiver` dies first. `progress` is
  /// called for each phase, and within it with the newest detail, as often as the GUI thread has time.
  std::int64_t send(WorkerRequest request, QObject* receiver, Reply reply, OnProgress progress = {});
  /// The same with `decode`, from const Json& to Result<T>, called off the GUI thread: what an answer is made into may
  /// take long. `reply` takes a Result<T>&, out of which it may move.
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
  /// Stops a request: it is answered as cancelled. A worker that does not stop within kCancelGraceMs is killed and
  /// replaced, and what waited behind is sent to the new one in the same order.
  void cancel(std::int64_t id);
  /// Asks a request that has a best so far to end with that (`tune`): it is answered as usual, whenever it is.
  void finish(std::int64_t id);
  /// What the process knows of the machine may be old: the next request that finds none under way gets a new one.
  void renew() { m_isOld = true; }
  /// What is started next is another program.
  void setProgram(const QString& program) { m_program = program; }
  bool busy() const { return !m_pending.empty(); }
  /// Zero when no worker runs.
  std::int64_t processId() const { return m_worker ? m_worker->id() : 0; }
  /// Where the worker is looked for: beside the executable, else one folder up in bin/.
  static QString defaultProgram();

 signals:
  /// The worker ended without being told to; `message` is for people.
  void workerDied(const QString& message);
  /// What a request tells of itself, for whoever is interested besides the one who sent it; `phase` is empty when it is
  /// answered.
  void told(const fusescope::WorkSettings& work, const QString& phase, const QString& detail);

 private:
  using Deliver = std::function<void(void* answer)>;
  struct Pending {
    WorkerRequest request;
    QPointer<QObject> receiver;
    EventReader::Decode decode;
    Deliver deliver;
    OnProgress progress;
    bool cancelled = false;
    bool answered = false;  ///< as cancelled, while the worker has not let go of it
  };

  std::int64_t submit(WorkerRequest request, QObject* receiver, EventReader::Decode decode, Deliver deliver,
                      OnProgress progress);
  void hand(const Pending& pending);
  void writeCancel(std::int64_t id);
  void startWorker();
  void take(const std::vector<EventReader::Event>& events);
  void giveUp(std::int64_t id);
  /// Hands what was not cancelled to a new worker, in order, and takes out the rest.
  [[nodiscard]] std::vector<Pending> replaceWorker();
  void answer(std::vector<Pending> pending, const Diagnostic& error);
  void workerEnded(const QString& reason, bool couldRun);
  void answer(Pending& pending, const Diagnostic& error);

  QString m_program;
  WorkerProcess* m_worker = nullptr;          ///< a child; null: none runs
  std::map<std::int64_t, Pending> m_pending;  ///< in the order of sending: the worker is at the first
  std::int64_t m_nextId = 1;
  bool m_isOld = false;  ///< m_worker, if there is one
};

}  // namespace fusescope
