#pragma once

#include <cstdint>

namespace fusescope::ops {

/// c[m, n] = a[m, k] · b[k, n], all dense and row-major. Each sum runs over k in order in one accumulator of the
/// element's own type, whatever the machine, so results are equal everywhere.
void multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n);
void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t k, std::int64_t n);

/// The same for the other types: wraps on overflow.
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
