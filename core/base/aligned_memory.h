#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace fusescope {

/// Every tensor that is the caller's, or that is a part of another tensor, begins at a multiple of this many bytes.
constexpr std::size_t kTensorAlignment = 16;

/// Returns `bytes` rounded up to a multiple of 64, the size of a cache line.
template <class T>
constexpr T wholeLines(T bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Allocates at least one byte, at an address that is a multiple of 64. The caller frees it with std::free(). Throws
/// std::bad_alloc.
std::byte* allocateAligned(std::size_t bytes);

/// Owns a block of memory that begins at a multiple of 64 bytes and is not initialised. Throws std::bad_alloc.
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

/// A block of memory, aligned to 64 bytes, that is allocated when it is first used. When it has to grow, it is
/// allocated anew and its contents are lost.
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
