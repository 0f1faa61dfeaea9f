#pragma once

#include <atomic>
#include <cstddef>
#include <span>

namespace fusescope {

/// Guards memory that is mapped from a file against the file becoming shorter. Reading a page that the file no longer
/// has raises SIGBUS, which would end the process. While this object lives, such a page is replaced by zeros instead,
/// and damaged() becomes true; whoever read the memory must then discard what was computed from it. The first object
/// installs the signal handler, which passes a SIGBUS of any other cause on to the previous handler. May be used in any
/// thread.
class GuardedMemory {
 public:
  /// `memory` begins at the start of a page and consists of whole pages, of which the last may be incomplete.
  explicit GuardedMemory(std::span<const std::byte> memory);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  bool damaged() const;

  struct Watch;  ///< a guarded range, as the signal handler reads it

 private:
  Watch* m_watch;
};

}  // namespace fusescope
