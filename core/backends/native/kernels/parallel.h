#pragma once

#include <omp.h>

#include <cstdint>

#include "backends/native/kernels/claims.h"

namespace fusescope::native {

/// Kernels run on one thread if they calculate at most this number of elements, because waking the others would take
/// longer than the work.
inline constexpr std::int64_t kFewElements = 16 * 1024;
/// The same for the bytes that a kernel copies.
inline constexpr std::int64_t kFewBytes = 64 * 1024;
/// The same for the products that a kernel adds up.
inline constexpr std::int64_t kFewProducts = 64 * 1024;

/// Calls `body` with each piece [begin, end) of `claims` that the thread with number `me` claims. Each thread of a team
/// calls this with the same `claims`; it does not wait for the others.
template <class Body>
void takePieces(Claims& claims, int me, const Body& body) {
  for (auto piece = claims.claim(me); !piece.isEmpty(); piece = claims.claim(me)) body(piece.begin, piece.end);
}

/// Calls `body` with each index in the same way.
template <class Body>
void takeEach(Claims& claims, int me, const Body& body) {
  takePieces(claims, me, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Calls `body` with each piece [begin, end) of `claims`, and with the number of the thread that claimed it. With one
/// thread it enters no parallel region, because leaving one is a system call that takes longer than a small kernel.
template <class Body>
void forEachPiece(Claims&& claims, int threads, const Body& body) {
  if (threads <= 1) {
    if (claims.count() > 0) body(std::int64_t{0}, claims.count(), 0);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const int me = omp_get_thread_num();
    takePieces(claims, me, [&](std::int64_t begin, std::int64_t end) { body(begin, end, me); });
  }
}

/// Calls `body` with each index of [0, count), shared among `threads` threads that claim pieces (Claims).
template <class Body>
void forEach(std::int64_t count, int threads, const Body& body) {
  forEachPiece(Claims(count, threads), threads, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Does the same, but each thread takes the next index when it is done: for calls that take long.
template <class Body>
void forEachInTurn(std::int64_t count, int threads, const Body& body) {
  if (threads <= 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

}  // namespace fusescope::native
