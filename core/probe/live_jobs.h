#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "probe/listener.h"

namespace fusescope {

class ProbeJob;

/// The process of a job, for another thread that suspends it. It may end at any moment.
class LiveProcess {
 public:
  LiveProcess(const ProbeJob* job, std::shared_ptr<Listener> listener, std::int64_t number,
              std::shared_ptr<Mailbox> mailbox)
      : m_job(job), m_listener(std::move(listener)), m_number(number), m_mailbox(std::move(mailbox)) {}

  const ProbeJob* job() const { return m_job; }
  /// Must be locked while the job is asked something and while its process is suspended.
  std::mutex& use() { return m_use; }
  /// With `on`, suspends the process. Otherwise continues it and sets `usedMs` to the processor time, in milliseconds,
  /// that it used while it was suspended; null if the system does not report it. The caller must have locked use().
  /// Returns false if the process has ended.
  bool rest(bool on, std::optional<double>& usedMs);

 private:
  const ProbeJob* m_job;
  const std::shared_ptr<Listener> m_listener;
  const std::int64_t m_number;
  const std::shared_ptr<Mailbox> m_mailbox;
  std::mutex m_use;
};

/// The jobs of this program that have a process. Thread-safe.
void addLiveProcess(const std::shared_ptr<LiveProcess>& process);
void removeLiveProcess(const ProbeJob* job);
std::vector<std::shared_ptr<LiveProcess>> liveProcesses();

}  // namespace fusescope
