// Gives the program patient threads (session/process_start.h). If OpenMP's library is part of the program (see
// CMakeLists.txt), the variables are set before that library reads them. Otherwise the program is started again before
// its libraries and its own constructors have prepared anything: what they prepare takes longer than loading the
// program, and would be lost in the restart.
#include <alloca.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "session/process_start.h"

#if defined(FUSESCOPE_HAS_OPENMP_INSIDE)

namespace fusescope::cli {
namespace {

/// The priority of the constructor: the first one that programs may use. OpenMP's own has the usual one, which comes
/// last.
constexpr int kBeforeOpenMP = 101;

__attribute__((constructor(kBeforeOpenMP))) void setVariables() {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  for (const char* variable : kPatientThreads) ::putenv(const_cast<char*>(variable));
}

}  // namespace
}  // namespace fusescope::cli

// Sanitizers prepare themselves at this time. With them, main() starts the program again.
#elif !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace fusescope::cli {
namespace {

/// Runs before all constructors, also before those of the C library, so that it may only make system calls.
void startAgain(int /*argc*/, char** argv, char** environment) {
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count)
    for (const char* variable : kPatientThreads)
      if (std::strncmp(environment[count], variable, std::strchr(variable, '=') - variable + 1) == 0) return;
  auto** const more = static_cast<char**>(alloca((count + kPatientThreads.size() + 1) * sizeof(char*)));
  std::memcpy(more, environment, count * sizeof(char*));
  for (const char* variable : kPatientThreads) more[count++] = const_cast<char*>(variable);
  more[count] = nullptr;
  std::array<char, 4096> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) > 0) ::execve(program.data(), argv, more);
}

__attribute__((section(".preinit_array"), used)) void (*const g_startAgain)(int, char**, char**) = &startAgain;

}  // namespace
}  // namespace fusescope::cli

#endif
