#include "base/process_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cstdlib>
#include <fstream>
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
    *into = std::strtoll(line.c_str() + colon + 1, nullptr, 10) * 1024;  // it tells kB
    ++found;
  }
  return found == 3 ? std::optional(memory) : std::nullopt;
}

void returnFreedMemory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace fusescope
