#include "backends/threads.h"

#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace fusescope {
namespace {

/// A thread of this priority gets about a tenth of a processor that another thread needs as well: this is enough to
/// make progress, and too little to disturb the other one.
constexpr int kBackgroundPriority = 10;

}  // namespace

int hardwareThreads() {
  return std::max(1, omp_get_num_procs());
}

void setThreads(int threads) {
  omp_set_num_threads(threads > 0 ? threads : hardwareThreads());
}

void yieldToOtherThreads() {
  // In Linux priorities belong to threads, and new threads inherit them. If the priority cannot be lowered, it is left
  // unchanged.
  const auto thread = static_cast<id_t>(gettid());
  const int priority = getpriority(PRIO_PROCESS, thread);
  setpriority(PRIO_PROCESS, thread, priority + kBackgroundPriority);
}

}  // namespace fusescope
