#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "probe/probe_job.h"

namespace fusescope {

/// What the processes of other jobs did while they were suspended.
struct RestReport {
  int jobs = 0;            ///< jobs that were suspended
  int unmeasured = 0;      ///< those of them whose system does not report what they used
  int busy = 0;            ///< jobs that were answering somebody and were not suspended
  double usedMs = 0;       ///< processor time of the suspended jobs
  double wallMs = 0;       ///< how long they were suspended
  bool disturbed() const;  ///< they used so much that a measurement at the same time cannot be trusted
  /// Returns a sentence like "2 processes of other compilers were suspended meanwhile and used 0 ms of processor time";
  /// empty if there were none.
  std::string inWords() const;
};

/// Sums the reports of all OthersAtRest that end on this thread during its lifetime.
class RestWatch {
 public:
  RestWatch();
  RestWatch(const RestWatch&) = delete;
  RestWatch& operator=(const RestWatch&) = delete;
  ~RestWatch();
  const RestReport& sum() const { return m_sum; }

 private:
  friend class OthersAtRest;
  RestReport m_sum;
  RestWatch* m_around;
};

/// Suspends the processes of all jobs of this program except one, so that their threads do not use processors during a
/// measurement: the threads of a compiler may spin long after a run. The destructor continues them. Thread-safe; a job
/// that is answering somebody is not suspended.
class OthersAtRest {
 public:
  /// `timed` is the job that is not suspended; null: all are suspended.
  explicit OthersAtRest(const ProbeJob* timed);
  OthersAtRest(const OthersAtRest&) = delete;
  OthersAtRest& operator=(const OthersAtRest&) = delete;
  ~OthersAtRest();
  /// Continues the processes and returns what they used.
  RestReport end();

 private:
  struct Resting;
  std::vector<std::unique_ptr<Resting>> m_resting;
  std::chrono::steady_clock::time_point m_since;
  RestReport m_report;
  bool m_isEnded = false;
};

}  // namespace fusescope
