#pragma once

#include <cstddef>

namespace fusescope {

/// Pages of memory that may become more. What they hold stays, but may come to lie elsewhere; those that nobody touched
/// take no memory.
class PageMemory {
 public:
  /// At least one byte. Throws std::bad_alloc.
  explicit PageMemory(std::size_t bytes);
  ~PageMemory();
  PageMemory(const PageMemory&) = delete;
  PageMemory& operator=(const PageMemory&) = delete;

  std::byte* data() const { return m_data; }
  std::size_t bytes() const { return m_bytes; }
  /// Throws std::bad_alloc; everything is as it was then.
  void growTo(std::size_t bytes);

 private:
  std::byte* m_data;
  std::size_t m_bytes;
};

}  // namespace fusescope
