#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "probe/probe_job.h"

namespace fusescope {

/// What the processes of other jobs did while they were to rest.
struct RestReport {
  int jobs = 0;            ///< that were suspended
  int untold = 0;          ///< of these, whose system does not tell what they used
  int busy = 0;            ///< that work for somebody else and were left alone
  double usedMs = 0;       ///< processor time of those that were suspended
  double wallMs = 0;       ///< how long they were
  bool disturbed() const;  ///< so much went on beside a measurement that it is not to be believed
  /// "2 processes of other compilers were suspended meanwhile and used 0 ms of processor time"; empty: there were none.
  std::string inWords() const;
};

/// Sums up what every OthersAtRest that ends on this thread found, as long as this lives.
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

/// Suspends the processes of all jobs of this program but one, so that none of their threads takes a processor from
/// what is timed meanwhile: a compiler's threads may spin long after a run. They go on when this ends. Thread-safe; a
/// job that answers somebody at that moment is left alone.
class OthersAtRest {
 public:
  /// `timed`: the job that is not to rest; null: all do.
  explicit OthersAtRest(const ProbeJob* timed);
  OthersAtRest(const OthersAtRest&) = delete;
  OthersAtRest& operator=(const OthersAtRest&) = delete;
  ~OthersAtRest();
  /// Lets them go on, and says what they used.
  RestReport end();

 private:
  struct Resting;
  std::vector<std::unique_ptr<Resting>> m_resting;
  std::chrono::steady_clock::time_point m_since;
  RestReport m_report;
  bool m_isEnded = false;
};

}  // namespace fusescope
