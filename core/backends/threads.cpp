#include "backends/threads.h"

#include <omp.h>

#include <algorithm>

namespace fusescope {

int hardwareThreads() {
  return std::max(1, omp_get_num_procs());
}

void setThreads(int threads) {
  omp_set_num_threads(threads > 0 ? threads : hardwareThreads());
}

}  // namespace fusescope
