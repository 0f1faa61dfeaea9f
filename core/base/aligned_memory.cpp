#include "base/aligned_memory.h"

#include <sys/mman.h>

#include <new>

namespace fusescope {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

// Much memory comes in huge pages, as far as it fills them: a hundredth of the page faults when it is first written,
// and fewer misses where it is read.
std::byte* allocateAligned(std::size_t bytes) {
  const std::size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  const bool isLarge = rounded >= kHugePage;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(isLarge ? kHugePage : kAlignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  if (isLarge) ::madvise(memory, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

}  // namespace fusescope
