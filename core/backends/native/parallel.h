#pragma once

#include <cstdint>

namespace fusescope::native {

/// Calls `body` with each of [0, count), shared among `threads` in equal stretches. One thread alone enters no parallel
/// region, for leaving it is a call of the system, which takes longer than a small kernel.
template <class Body>
void forEach(std::int64_t count, int threads, const Body& body) {
  if (threads <= 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

/// The same, each thread taking the next one when it is done: for calls that take a while each.
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
