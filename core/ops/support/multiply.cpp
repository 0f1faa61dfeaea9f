#include "ops/support/multiply.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace fusescope::ops {
namespace {

// Panels of kColumns columns of b are packed. kRows rows of a are multiplied with each at a time, with the sums in
// registers. Vectors are along n, so that a sum never combines lanes. The AVX2 version has the same code without FMA,
// so that its results equal those of the plain version.
constexpr std::int64_t kRows = 4;

template <class T>
struct Lanes {
  static constexpr std::int64_t kCount = 32 / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t kColumns = 2 * kCount;
  using Vector __attribute__((vector_size(32))) = T;
};

template <class T, std::int64_t rows>
[[gnu::always_inline]] inline void multiplyRows(const T* a, std::int64_t k, const T* panel, T* c, std::int64_t n,
                                                std::int64_t columns) {
  using Vector = typename Lanes<T>::Vector;
  Vector sums[rows][2] = {};
  for (std::int64_t p = 0; p < k; ++p) {
    Vector b[2];
    std::memcpy(b, panel + p * Lanes<T>::kColumns, sizeof b);
    for (std::int64_t r = 0; r < rows; ++r) {
      const T factor = a[r * k + p];
      sums[r][0] += factor * b[0];
      sums[r][1] += factor * b[1];
    }
  }
  for (std::int64_t r = 0; r < rows; ++r)
    std::memcpy(c + r * n, sums[r], static_cast<std::size_t>(columns) * sizeof(T));
}

template <class T>
[[gnu::always_inline]] inline void multiplyBlocked(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k,
                                                   std::int64_t n, T* panel) {
  constexpr std::int64_t kColumns = Lanes<T>::kColumns;
  for (std::int64_t j = 0; j < n; j += kColumns) {
    const std::int64_t columns = std::min(kColumns, n - j);
    for (std::int64_t p = 0; p < k; ++p)
      std::memcpy(panel + p * kColumns, b + p * n + j, static_cast<std::size_t>(columns) * sizeof(T));
    std::int64_t i = 0;
    for (; i + kRows <= m; i += kRows) multiplyRows<T, kRows>(a + i * k, k, panel, c + i * n + j, n, columns);
    for (; i < m; ++i) multiplyRows<T, 1>(a + i * k, k, panel, c + i * n + j, n, columns);
  }
}

template <class T>
void multiplyPlain(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n, T* panel) {
  multiplyBlocked(a, b, c, m, k, n, panel);
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx2")]] void multiplyAvx2(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n,
                                          T* panel) {
  multiplyBlocked(a, b, c, m, k, n, panel);
}
#endif

template <class T>
void multiplyBest(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  std::vector<T> panel(static_cast<std::size_t>(k * Lanes<T>::kColumns));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return multiplyAvx2(a, b, c, m, k, n, panel.data());
#endif
  multiplyPlain(a, b, c, m, k, n, panel.data());
}

}  // namespace

void multiply(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  multiplyBest(a, b, c, m, k, n);
}

void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  multiplyBest(a, b, c, m, k, n);
}

}  // namespace fusescope::ops
