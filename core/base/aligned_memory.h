#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace fusescope {

/// Where tensors may begin that are the caller's, or a part of another one: a multiple of this, in bytes.
constexpr std::size_t kTensorAlignment = 16;

/// `bytes` rounded up to whole cache lines of 64 bytes.
template <class T>
constexpr T wholeLines(T bytes) {
  return (bytes + 63) / 64 * 64;
}

/// 64-byte aligned, at least one byte, for std::free(). Throws std::bad_alloc.
std::byte* allocateAligned(std::size_t bytes);

/// 64-byte aligned bytes, not initialised. Throws std::bad_alloc.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(std::size_t bytes) : m_data(allocateAligned(bytes)) {}
  std::byte* data() const { return m_data.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
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
  std::byte* data() const { return m_memory.data(); }

 private:
  AlignedMemory m_memory;
  std::size_t m_bytes = 0;
};

}  // namespace fusescope
