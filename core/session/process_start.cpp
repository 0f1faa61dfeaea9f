#include "session/process_start.h"

#include <unistd.h>

#include <cstdlib>

namespace fusescope {

void restartWithPatientThreads(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  setenv("GOMP_SPINCOUNT", "4000", 1);  // some microseconds: the next kernel of a quiet run finds its threads awake
  execv("/proc/self/exe", argv);        // comes back only if it failed: then the threads spin, and all else works
}

}  // namespace fusescope
