#include "base/aligned_memory.h"

#include <new>

#include "base/process_memory.h"

namespace fusescope {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

std::byte* allocateAligned(std::size_t bytes) {
  if (bytes > mostMemory()) throw std::bad_alloc();
  const std::size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace fusescope
