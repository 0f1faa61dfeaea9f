#include "compilers/probed/next_build.h"

#include <atomic>

#include "backends/threads.h"

namespace fusescope {
namespace {

std::atomic<int> g_threadsOfNextBuild = 0;

}  // namespace

void expectBuilds(int threads) {
  g_threadsOfNextBuild = threads > 0 ? threads : hardwareThreads();
}

int threadsOfNextBuild() {
  return g_threadsOfNextBuild;
}

}  // namespace fusescope
