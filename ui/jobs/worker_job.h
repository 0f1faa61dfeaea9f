#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <functional>
#include <map>

#include "ui/jobs/worker_client.h"

namespace fusescope {

/// One piece of work at a time that the worker does for a dialog, with its progress and duration. The destructor
/// cancels running work.
class WorkerJob : public QObject {
  Q_OBJECT

 public:
  explicit WorkerJob(WorkerClient& worker, QObject* parent = nullptr);
  ~WorkerJob() override;

  /// Starts work. `decode` is as for WorkerClient::sendDecoded(), and `done` receives its result. No work may be
  /// running.
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
  /// Passes the details of this phase to `listen`; they are not shown.
  void listenTo(const QString& phase, std::function<void(const QString& detail)> listen);
  /// Cancels the work, which is answered as cancelled.
  void cancel();
  /// Ends the work with the best result so far.
  void finish();
  bool working() const { return m_request != 0; }
  /// Returns "3.2 s  calibrate · node_conv2d"; empty if nothing is running.
  QString text() const;

 signals:
  void changed();  ///< work begins, ends, or reports something new; also once in a while as a clock

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
