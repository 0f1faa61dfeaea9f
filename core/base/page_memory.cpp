#include "base/page_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/process_memory.h"

namespace fusescope {
namespace {

std::byte* checked(void* memory) {
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

std::size_t affordable(std::size_t bytes) {
  if (bytes > mostMemory()) throw std::bad_alloc();
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace

PageMemory::PageMemory(std::size_t bytes)
    : m_data(checked(::mmap(nullptr, affordable(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
      m_bytes(affordable(bytes)) {}

PageMemory::~PageMemory() {
  ::munmap(m_data, m_bytes);
}

void PageMemory::growTo(std::size_t bytes) {
  if (bytes <= m_bytes) return;
  m_data = checked(::mremap(m_data, m_bytes, affordable(bytes), MREMAP_MAYMOVE));
  m_bytes = bytes;
}

}  // namespace fusescope
