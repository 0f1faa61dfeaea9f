#include "session/process_start.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>

// Highway's library measures the resolution of its timer whenever a program that uses it starts, which takes 2.6 ms: a
// quarter of the start of a command. Only Highway's own benchmarks read the resolution. The linker gives this function,
// of the program, precedence over the library's.
namespace hwy::platform {
__attribute__((visibility("default"))) std::uint64_t TimerResolution();
std::uint64_t TimerResolution() {
  return 1;
}
}  // namespace hwy::platform

namespace fusescope {

void restartWithPatientThreads(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  for (const char* variable : kPatientThreads) putenv(const_cast<char*>(variable));
  std::error_code unknown;
  const auto program =
      // The program's own name, as lists of processes show it.
      std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown)
    execv(program.c_str(), argv);  // returns only if it fails; the threads then spin, and everything else works
}

}  // namespace fusescope
