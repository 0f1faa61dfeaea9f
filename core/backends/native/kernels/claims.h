#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace fusescope::native {

/// Pieces [begin, end) of [0, count) that threads claim while they work. Each thread begins with a part of its own, the
/// same one each time, so that it finds data that it produced before in its caches. A thread that has finished its own
/// part claims the remaining pieces of other parts, so that nobody waits for a thread that was suspended before it
/// claimed its work. Each index is claimed exactly once, however many threads take part. Thread-safe.
class Claims {
 public:
  struct Piece {
    std::int64_t begin = 0, end = 0;
    bool isEmpty() const { return begin >= end; }
  };

  /// A piece has at least `leastPiece` indices, except at the end of a part.
  Claims(std::int64_t count, int threads, std::int64_t leastPiece = 1)
      : m_count(count),
        m_stretches(std::clamp(threads, 1, kMostStretches)),
        m_piece(std::max(leastPiece, count / (std::int64_t{m_stretches} * kPiecesEach))) {
    for (int i = 0; i < m_stretches; ++i) at(i).next = beginOf(i);
  }

  std::int64_t count() const { return m_count; }

  /// Returns the next piece for `thread`; it is empty if nothing is left.
  Piece claim(int thread) {
    for (int i = 0; i < m_stretches; ++i) {
      const int owner = (thread + i) % m_stretches;
      const std::int64_t end = beginOf(owner + 1);
      const std::atomic_ref<std::int64_t> next(at(owner).next);
      if (next.load(std::memory_order_relaxed) >= end) continue;
      const std::int64_t begin = next.fetch_add(m_piece, std::memory_order_relaxed);
      if (begin < end) return {begin, std::min(begin + m_piece, end)};
    }
    return {};
  }

 private:
  static constexpr std::int64_t kPiecesEach = 8;
  static constexpr int kMostStretches = 64;  // more threads than these share them; nothing is allocated
  struct alignas(64) Stretch {               // a cache line, so that threads do not slow each other down
    std::int64_t next;
  };
  Stretch& at(int stretch) { return m_next[static_cast<std::size_t>(stretch)]; }
  std::int64_t beginOf(int stretch) const { return m_count * stretch / m_stretches; }

  std::int64_t m_count;
  int m_stretches;
  std::int64_t m_piece;
  std::array<Stretch, kMostStretches> m_next;  ///< only the first m_stretches are used, because kernels may be short
};

}  // namespace fusescope::native
