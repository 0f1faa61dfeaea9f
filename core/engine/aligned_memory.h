#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "backends/cpu_device.h"

namespace fusescope {

/// 64-byte aligned bytes, not initialised. Throws std::bad_alloc.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(std::size_t bytes) : m_data(cpuDevice().allocate(bytes)) {}
  std::byte* data() const { return m_data.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { cpuDevice().free(memory); }
  };
  std::unique_ptr<std::byte, Free> m_data;
};

/// Aligned bytes that are there when they are asked for; what they hold is lost when there must be more of them.
class GrowingMemory {
 public:
  std::byte* atLeast(std::size_t bytes) {
    if (bytes > m_bytes || m_memory.data() == nullptr) {
      m_memory = AlignedMemory(std::max<std::size_t>(bytes, 1));
      m_bytes = bytes;
    }
    return m_memory.data();
  }
  const std::byte* data() const { return m_memory.data(); }

 private:
  AlignedMemory m_memory;
  std::size_t m_bytes = 0;
};

}  // namespace fusescope
