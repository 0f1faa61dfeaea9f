#pragma once

#include <sched.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/descriptor.h"

namespace fusescope {

/// The threads of the parallel regions that the calling thread enters (setThreads()), as somebody needs them who
/// measures: while this lives each of several has a processor that it does not leave, another one than the others as
/// far as there are enough, for two on one wait for each other.
class ThreadTeam {
 public:
  ThreadTeam();
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  /// Milliseconds that they have waited for a processor which somebody else had, all together, since they began, as the
  /// operating system counts it; 0 where it does not say. What runs meanwhile takes longer by about that.
  double waitedMs() const;
  /// Lets all of them sleep: who has slept is let run before who has not.
  static void pause(std::chrono::microseconds time);

 private:
  struct Member {
    Member(int place, int all);  ///< of the calling thread
    pid_t thread;
    cpu_set_t before;  ///< processors that it might use
    bool isPinned;
    Descriptor schedstat;  ///< "<running> <waiting> <slices>" in nanoseconds
  };
  std::vector<std::unique_ptr<Member>> m_members;
};

}  // namespace fusescope
