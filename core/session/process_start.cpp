#include "session/process_start.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace fusescope {

void restartWithPatientThreads(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  for (const char* variable : kPatientThreads) putenv(const_cast<char*>(variable));
  std::error_code unknown;
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe", unknown);  // by its name: lists of processes have it
  if (!unknown)
    execv(program.c_str(), argv);  // comes back only if it failed: then the threads spin, and all else works
}

}  // namespace fusescope
