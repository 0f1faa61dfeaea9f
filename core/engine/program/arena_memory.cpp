#include "engine/program/arena_memory.h"

#include <algorithm>

namespace fusescope {

void ArenaMemory::fit(const Program& program) {
  for (const Arena& arena : program.arenas) {
    const auto own = std::ranges::find(m_memory, arena.device, &OnDevice::device);
    if (own == m_memory.end()) {
      m_memory.push_back({arena.device, DeviceMemory(*arena.device, arena.bytes)});
    } else {
      own->memory.atLeast(arena.bytes);
    }
  }
}

std::byte* ArenaMemory::at(const Device& device) const {
  return std::ranges::find(m_memory, &device, &OnDevice::device)->memory.data();
}

std::size_t ArenaMemory::bytes() const {
  std::size_t all = 0;
  for (const OnDevice& on : m_memory) all += on.memory.bytes();
  return all;
}

}  // namespace fusescope
