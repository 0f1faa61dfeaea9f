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
      // The program's own name, as lists of processes show it.
      std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (!unknown)
    execv(program.c_str(), argv);  // returns only if it fails; the threads then spin, and everything else works
}

}  // namespace fusescope
