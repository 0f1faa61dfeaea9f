#pragma once

#include <QHash>
#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>

#include "base/stop.h"

namespace fusescope {

/// Runs functions off the GUI thread and delivers their const results on it. Work has a tag: a newer request with a tag
/// stops the running one and replaces the waiting one, so that at most one runs and one waits for each tag. A result is
/// delivered only if its request is still the latest of its tag and its receiver still exists. It is used on the GUI
/// thread only; only the destructor blocks, which stops the work and waits for its end.
class JobRunner : public QObject {
  Q_OBJECT

 public:
  explicit JobRunner(QObject* parent = nullptr);
  ~JobRunner() override;

  /// Runs `work(const StopToken&)` on a thread of the pool, and `done(const T&)` on the GUI thread.
  template <class Work, class Deliver>
  void run(const QString& tag, QObject* receiver, Work work, Deliver done) {
    using T = std::invoke_result_t<Work, const StopToken&>;
    submit(
        tag, receiver,
        [work = std::move(work)](const StopToken& stop) -> std::shared_ptr<const void> {
          return std::make_shared<const T>(work(stop));
        },
        [done = std::move(done)](const std::shared_ptr<const void>& result) {
          done(*static_cast<const T*>(result.get()));
        });
  }

  /// Asks the running work of `tag` to stop and drops waiting work; neither is delivered.
  void cancel(const QString& tag);
  bool busy(const QString& tag) const;
  bool idle() const;

 signals:
  void activityChanged();

 private:
  using Work = std::function<std::shared_ptr<const void>(const StopToken&)>;
  using Deliver = std::function<void(const std::shared_ptr<const void>&)>;
  struct Job {
    QPointer<QObject> receiver;
    Work work;
    Deliver deliver;
  };
  struct Lane {
    bool running = false;
    bool wanted = false;  ///< whether the running job is still the newest request
    std::stop_source stop{std::nostopstate};
    std::optional<Job> waiting;
  };

  void submit(const QString& tag, QObject* receiver, Work work, Deliver deliver);
  void start(const QString& tag, Job job);
  void finished(const QString& tag, const Job& job, std::shared_ptr<const void>& result);

  QThreadPool m_pool;
  QHash<QString, std::shared_ptr<Lane>> m_lanes;
};

}  // namespace fusescope
