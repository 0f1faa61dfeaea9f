// Starts the program again with patient threads (session/process_start.h) before its libraries and its own constructors
// have prepared anything. What they prepare takes longer than loading the program, and would be lost in the restart.
#include <alloca.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "session/process_start.h"

// Sanitizers prepare themselves at this time. With them, main() starts the program again.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

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
