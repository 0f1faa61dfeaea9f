#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <functional>
#include <map>

#include "ui/jobs/worker_client.h"

namespace fusescope {

/// One piece of work at a time that a dialog has the worker do, with what it says of itself and how long it takes. What
/// is under way when this goes is cancelled.
class WorkerJob : public QObject {
  Q_OBJECT

 public:
  explicit WorkerJob(WorkerClient& worker, QObject* parent = nullptr);
  ~WorkerJob() override;

  /// `decode` as WorkerClient::sendDecoded() takes it; `done` takes its result. Nothing may be under way.
  template <class Decode, class Done>
  void start(const WorkerRequest& request, Decode decode, Done done) {
    begin();
    m_request = m_worker.sendDecoded(
        request, this, std::move(decode),
        [this, done = std::move(done)](const auto& answer) {
          end();
          done(answer);
          emit changed();
        },
        [this](const QString& phase, const QString& detail) { heard(phase, detail); });
    emit changed();
  }
  /// What is told under this phase goes to `listen`, and is not shown.
  void listenTo(const QString& phase, std::function<void(const QString& detail)> listen);
  /// It is answered as cancelled.
  void cancel();
  /// It ends with the best so far.
  void finish();
  bool working() const { return m_request != 0; }
  /// "3.2 s  calibrate · node_conv2d"; empty while nothing is under way.
  QString text() const;

 signals:
  void changed();  ///< begins, ends, or says something new; a clock while it works

 private:
  void begin();
  void end();
  void heard(const QString& phase, const QString& detail);

  WorkerClient& m_worker;
  std::int64_t m_request = 0;
  QString m_said;
  std::map<QString, std::function<void(const QString& detail)>> m_listeners;  ///< by phase
  QTimer m_clock;
  QElapsedTimer m_elapsed;
};

}  // namespace fusescope
