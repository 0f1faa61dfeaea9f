#include "compilers/probed/idle_processes.h"

#include "compilers/probed/probed_compiler.h"
#include "probe/listeners.h"

namespace fusescope {

std::jthread endIdleProcesses() {
  return std::jthread([] {
    endIdleJobs();
    endIdleListeners();
  });
}

}  // namespace fusescope
