#include "base/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace fusescope {

/// One guarded range; it is free while `begin` is 0. Threads write it, the signal handler reads it, and it is never
/// deleted.
struct GuardedMemory::Watch {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> damaged{false};
};

namespace {

using Watch = GuardedMemory::Watch;

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr std::uintptr_t kFree = 0;
constexpr std::uintptr_t kTaken = 1;  ///< `begin` while its range is being written: no page lies there

/// Watches are in blocks that are only ever added, so that the handler can walk over them whatever other threads do.
struct Block {
  std::array<Watch, 64> watches;
  std::atomic<Block*> next{nullptr};
};

Block firstBlock;
struct sigaction actionBefore;
std::uintptr_t pageBytes = 0;

/// Async-signal-safe. A range is read as it was at some moment during the call, because `begin` is cleared before `end`
/// changes.
Watch* watchOf(std::uintptr_t address) {
  for (Block* block = &firstBlock; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
    for (Watch& watch : block->watches) {
      const std::uintptr_t begin = watch.begin.load(std::memory_order_acquire);
      const std::uintptr_t end = watch.end.load(std::memory_order_acquire);
      if (begin <= kTaken || address < begin || address >= end) continue;
      if (watch.begin.load(std::memory_order_acquire) == begin) return &watch;
    }
  }
  return nullptr;
}

/// Maps a page of zeros where the file has no page any more. Async-signal-safe.
bool replacePage(std::uintptr_t address) {
  void* const page = reinterpret_cast<void*>(address & ~(pageBytes - 1));
  return ::mmap(page, pageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

void onBusError(int signal, siginfo_t* info, void*) {
  const int errorBefore = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Watch* const watch = info->si_code == BUS_ADRERR ? watchOf(address) : nullptr;
  if (watch != nullptr && replacePage(address)) {
    watch->damaged.store(true, std::memory_order_release);
  } else {
    // The access is repeated on return, or the signal that was sent is sent again; then the previous handler gets it.
    ::sigaction(SIGBUS, &actionBefore, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
  errno = errorBefore;
}

bool installHandler() {
  pageBytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, nullptr, &actionBefore);  // before the handler, which reads it, can run
  return ::sigaction(SIGBUS, &action, nullptr) == 0;
}

Watch* takeWatch() {
  for (Block* block = &firstBlock;;) {
    for (Watch& watch : block->watches) {
      std::uintptr_t expected = kFree;
      if (watch.begin.compare_exchange_strong(expected, kTaken)) return &watch;
    }
    Block* next = block->next.load(std::memory_order_acquire);
    if (next == nullptr) {
      Block* added = new Block;
      if (block->next.compare_exchange_strong(next, added)) {
        next = added;
      } else {
        delete added;  // another thread was faster, and `next` is its block
      }
    }
    block = next;
  }
}

}  // namespace

GuardedMemory::GuardedMemory(std::span<const std::byte> memory) {
  [[maybe_unused]] static const bool kInstalled = installHandler();
  m_watch = takeWatch();
  m_watch->damaged.store(false);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  m_watch->end.store(begin + memory.size());
  m_watch->begin.store(begin);
}

GuardedMemory::~GuardedMemory() {
  m_watch->begin.store(kTaken);
  m_watch->end.store(0);
  m_watch->begin.store(kFree);
}

bool GuardedMemory::damaged() const {
  return m_watch->damaged.load(std::memory_order_acquire);
}

}  // namespace fusescope
