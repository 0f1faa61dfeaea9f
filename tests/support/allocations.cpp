#include "tests/support/allocations.h"

#include <cstddef>

namespace {

thread_local long asked = 0;

}  // namespace

#if FUSESCOPE_ADDRESS_SANITIZER == 0 && FUSESCOPE_THREAD_SANITIZER == 0
// A program's own malloc takes the place of the C library's for everything that is linked to it; glibc still offers its
// own under these names.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t bytes) noexcept {
  ++asked;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  ++asked;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) noexcept {
  ++asked;
  return __libc_realloc(memory, bytes);
}
}
#endif

namespace fusescope::test {

long allocations() {
  return asked;
}

}  // namespace fusescope::test
