// Gives the program patient threads (session/process_start.h) before its libraries, and itself, have prepared anything.
// OpenMP reads its variables when it is prepared. They take the places of two others, which nothing that is prepared
// reads, until main() begins: to start the program again for that takes some milliseconds. Where there are no such two,
// it is started again.
#include "app/cli/first_start.h"

#include <alloca.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "session/process_start.h"

namespace fusescope::cli {
namespace {

constexpr std::size_t kCount = kPatientThreads.size();

std::array<char*, kCount> g_lent{};  ///< the entries in whose places the variables are; null: there are none

// Sanitizers prepare themselves at this time: there main() starts the program again.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// What shells set for shells.
constexpr std::array kLent{"_=", "OLDPWD=", "SHLVL=", "LOGNAME=", "MAIL=", "SHELL=", "HOSTNAME="};

template <std::size_t N>
bool isOneOf(const char* entry, const std::array<const char*, N>& variables) {
  for (const char* variable : variables)
    if (std::strncmp(entry, variable, std::strchr(variable, '=') - variable + 1) == 0) return true;
  return false;
}

/// These run before any constructor, also those of the C library: they may call the system and nothing else.
bool lend(char** environment) {
  std::array<char**, kCount> places{};
  std::size_t found = 0;
  for (char** entry = environment; *entry != nullptr && found < kCount; ++entry)
    if (isOneOf(*entry, kLent)) places[found++] = entry;
  if (found < kCount) return false;
  for (std::size_t i = 0; i < kCount; ++i) {
    g_lent[i] = *places[i];
    *places[i] = const_cast<char*>(kPatientThreads[i]);
  }
  return true;
}

void startAgain(char** argv, char** environment) {
  std::size_t count = 0;
  while (environment[count] != nullptr) ++count;
  auto** const more = static_cast<char**>(alloca((count + kCount + 1) * sizeof(char*)));
  std::memcpy(more, environment, count * sizeof(char*));
  for (const char* variable : kPatientThreads) more[count++] = const_cast<char*>(variable);
  more[count] = nullptr;
  std::array<char, 4096> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) > 0) ::execve(program.data(), argv, more);
}

void begin(int /*argc*/, char** argv, char** environment) {
  for (char** entry = environment; *entry != nullptr; ++entry)
    if (isOneOf(*entry, kPatientThreads)) return;
  if (!lend(environment)) startAgain(argv, environment);
}

__attribute__((section(".preinit_array"), used)) void (*const g_begin)(int, char**, char**) = &begin;

#endif

}  // namespace

void giveVariablesBack() {
  if (g_lent.front() == nullptr) return;
  for (std::size_t i = 0; i < kCount; ++i)
    for (char** entry = environ; *entry != nullptr; ++entry)
      if (*entry == kPatientThreads[i]) *entry = g_lent[i];
  g_lent = {};
  for (const char* variable : kPatientThreads) ::putenv(const_cast<char*>(variable));
}

}  // namespace fusescope::cli
