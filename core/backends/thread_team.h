#pragma once

#include <sched.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/descriptor.h"

namespace fusescope {

/// The threads of the parallel regions that the calling thread enters (setThreads()), prepared for measuring. While
/// this object exists, each of several threads is bound to one processor, and to different ones if there are enough,
/// because two threads on one processor wait for each other.
class ThreadTeam {
 public:
  ThreadTeam();
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  /// Returns how many milliseconds all these threads together have waited for a processor that another thread used,
  /// since they were started, as the operating system reports it; 0 if it does not. Work takes longer by about this
  /// time.
  double waitedMs() const;
  /// Lets all of them sleep. The scheduler prefers threads that have slept.
  static void pause(std::chrono::microseconds time);

 private:
  struct Member {
    Member(int place, int all);  ///< prepares the calling thread
    pid_t thread;
    cpu_set_t before;  ///< the processors that the thread could use before
    bool isPinned;
    Descriptor schedstat;  ///< "<running> <waiting> <slices>" in nanoseconds
  };
  std::vector<std::unique_ptr<Member>> m_members;
};

}  // namespace fusescope
