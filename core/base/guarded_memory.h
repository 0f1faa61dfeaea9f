#pragma once

#include <atomic>
#include <cstddef>
#include <span>

namespace fusescope {

/// Memory that a file backs, watched for the file becoming shorter. Reading a page that the file no longer has raises
/// SIGBUS, which would end the process. While this object lives, such a page becomes zeros instead, and the memory is
/// known to be damaged: whoever used it must then refuse what came of it. The first object installs the handler of the
/// signal; a SIGBUS of any other cause goes where it went before. Any thread.
class GuardedMemory {
 public:
  /// `memory`: whole pages from a page's start, the last one perhaps in part.
  explicit GuardedMemory(std::span<const std::byte> memory);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  bool damaged() const;

  struct Watch;  ///< what the handler looks at

 private:
  Watch* m_watch;
};

}  // namespace fusescope
