#pragma once

#include <QByteArray>
#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <stop_token>

#include "ui/canvas/canvas_builder.h"

namespace fusescope {

/// Turns plans into laid-out scenes off the GUI thread. A new request replaces the one under way. Small scenes go
/// through the helper process fusescope-layoutd beside the executable, which is killed when it is no longer wanted; if
/// it is missing, dies, or takes too long, and for large scenes, the layered layout runs in a worker thread instead.
/// GUI thread only.
class LayoutRunner : public QObject {
  Q_OBJECT

 public:
  explicit LayoutRunner(QObject* parent = nullptr);
  ~LayoutRunner() override;

  void request(std::shared_ptr<const Plan> plan, OpenState open);
  void cancel();
  /// Lets go of a scene in the worker thread: that of many boxes takes long to take apart.
  void discard(std::shared_ptr<const CanvasScene> scene);
  bool isRunning() const { return m_running; }

  static constexpr int kLargestForHelper = 1'500;  ///< boxes
  static constexpr int kWarnAfterMs = 1'000;
  static constexpr int kGiveUpAfterMs = 2'000;

 signals:
  void started();
  void finished(std::shared_ptr<const fusescope::CanvasScene> scene, double milliseconds);
  void warning(const QString& text);

 private:
  struct Job;
  void prepared(std::shared_ptr<Job> job);
  void startHelper(std::shared_ptr<Job> job);
  void helperFinished(std::shared_ptr<Job> job, int exitCode, QProcess::ExitStatus status);
  void layInThread(std::shared_ptr<Job> job, const QString& reason);
  void deliver(std::shared_ptr<Job> job);
  void stopHelper();
  template <class Work, class Then>
  void inThread(std::shared_ptr<Job> job, Work work, Then then);

  std::shared_ptr<const CanvasFonts> m_fonts;
  std::shared_ptr<Job> m_job;
  QThreadPool m_pool;
  QProcess* m_helper = nullptr;
  QTimer m_warnTimer, m_giveUpTimer;
  bool m_running = false;
};

}  // namespace fusescope
