#include "ui/jobs/wait_until.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QTimer>

namespace fusescope {

namespace {

constexpr int kWakeMs = 20;  ///< milliseconds, for conditions that change without an event

}  // namespace

bool waitUntil(const std::function<bool()>& done, int milliseconds) {
  const QDeadlineTimer deadline(milliseconds);
  QTimer wake;
  wake.start(kWakeMs);
  while (!done() && !deadline.hasExpired()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  return done();
}

}  // namespace fusescope
