#include "base/process_memory.h"

#if defined(FUSESCOPE_HAS_MIMALLOC)
#include <mimalloc.h>
#elif defined(__GLIBC__)
#include <malloc.h>
#endif

#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace fusescope {

std::optional<ProcessMemory> processMemory() {
  std::ifstream status("/proc/self/status");
  ProcessMemory memory;
  int found = 0;
  for (std::string line; std::getline(status, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view field(line.data(), colon);
    std::int64_t* const into = field == "VmHWM"     ? &memory.peakResident
                               : field == "VmRSS"   ? &memory.resident
                               : field == "RssFile" ? &memory.mapped
                                                    : nullptr;
    if (into == nullptr) continue;
    *into = std::strtoll(line.c_str() + colon + 1, nullptr, 10) * 1024;  // the file has kB
    ++found;
  }
  return found == 3 ? std::optional(memory) : std::nullopt;
}

namespace {

/// Returns the number of bytes in a file of the system, or nothing if the file does not exist or contains "max".
std::optional<std::size_t> limitIn(const char* path) {
  std::ifstream file(path);
  std::size_t bytes = 0;
  return file >> bytes ? std::optional(bytes) : std::nullopt;
}

std::size_t limitOfMachine() {
  struct sysinfo machine {};
  std::size_t most = std::numeric_limits<std::size_t>::max();
  if (::sysinfo(&machine) == 0) most = (machine.totalram + machine.totalswap) * machine.mem_unit;
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const auto limit = limitIn(path)) most = std::min(most, *limit);
  return most;
}

}  // namespace

std::size_t mostMemory() {
  static const std::size_t most = limitOfMachine();
  return most;
}

void returnFreedMemory() {
#if defined(FUSESCOPE_HAS_MIMALLOC)
  ::mi_collect(true);
#elif defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace fusescope
