#pragma once

#include <cstddef>

namespace fusescope {

/// A growable block of memory that consists of pages. When it grows, its contents are preserved, but may move to
/// another address. Pages that were never touched take no physical memory.
class PageMemory {
 public:
  /// Allocates at least one byte. Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes);
  ~PageMemory();
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;

  std::byte* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }
  /// Throws std::bad_alloc; the block is then unchanged.
  void growTo(std::size_t bytes);

 private:
  std::byte* m_data;
  std::size_t m_bytes;
};

}  // namespace fusescope
