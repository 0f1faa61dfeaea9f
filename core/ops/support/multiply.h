#pragma once

#include <cstdint>

namespace fusescope::ops {

/// Computes c[m, n] = a[m, k] · b[k, n] of dense row-major matrices. Each sum is over k in ascending order, in one
/// accumulator of the element's type, so that results are equal on every machine.
void multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n);
void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t k, std::int64_t n);

/// Does the same for integers, which wrap on overflow.
template <class T>
void multiply(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  for (std::int64_t i = 0; i < m; ++i) {
    T* row = c + i * n;
    for (std::int64_t j = 0; j < n; ++j) row[j] = T(0);
    for (std::int64_t p = 0; p < k; ++p) {
      const T factor = a[i * k + p];
      for (std::int64_t j = 0; j < n; ++j)
        row[j] = static_cast<T>(static_cast<std::uint64_t>(row[j]) +
                                static_cast<std::uint64_t>(factor) * static_cast<std::uint64_t>(b[p * n + j]));
    }
  }
}

}  // namespace fusescope::ops
