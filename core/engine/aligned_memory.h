#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace fusescope {

/// 64-byte aligned bytes, not initialised. Throws std::bad_alloc.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(std::size_t bytes);
  std::byte* data() const { return m_data.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> m_data;
};

}  // namespace fusescope
