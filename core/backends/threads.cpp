#include "backends/threads.h"

#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace fusescope {
namespace {

/// A thread of this priority gets about a tenth of a processor that another thread wants as well: enough to go on, and
/// too little to be felt.
constexpr int kBackgroundPriority = 10;

}  // namespace

int hardwareThreads() {
  return std::max(1, omp_get_num_procs());
}

void setThreads(int threads) {
  omp_set_num_threads(threads > 0 ? threads : hardwareThreads());
}

void yieldToOtherThreads() {
  // In Linux a priority belongs to a thread, and threads inherit it. Where it cannot be lowered, it stays.
  const auto thread = static_cast<id_t>(gettid());
  const int priority = getpriority(PRIO_PROCESS, thread);
  setpriority(PRIO_PROCESS, thread, priority + kBackgroundPriority);
}

}  // namespace fusescope
