#include "base/aligned_memory.h"

#include <algorithm>
#include <new>

namespace fusescope {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

AlignedMemory::AlignedMemory(std::size_t bytes) {
  const std::size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  m_data.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!m_data) throw std::bad_alloc();
}

}  // namespace fusescope
