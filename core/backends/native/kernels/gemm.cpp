#include "backends/native/kernels/gemm.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "backends/native/kernels/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/kernels/gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/kernels/narrow_floats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kLanes = HWY_MAX_BYTES / 4;
constexpr std::int64_t kPanel = 2 * kLanes;
/// The number of rows that are kept in registers: their two vectors each, two vectors of B and one of A fill 16 (or 32)
/// registers.
constexpr int kRows = HWY_MAX_BYTES == 64 ? 12 : 6;
/// The length of a piece of k whose panel (k·panel floats) stays in the first cache.
constexpr std::int64_t kDepth = 320;

/// Multiplies `Rows` rows by one panel, or by its first half if no more columns are needed. If `carry` is true, the
/// products are added to the contents of c.
template <int Rows, bool Half, class B>
HWY_INLINE void micro(const float* a, std::int64_t lda, const B* b, std::int64_t depth, float* c, std::int64_t ldc,
                      std::int64_t columns, const float* bias, bool carry) {
  const F32 d;
  constexpr std::int64_t kWidth = Half ? kLanes : kPanel;
  VF acc[Rows][2];
  HWY_ALIGN float edge[kPanel];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
    const float* start = carry ? c + r * ldc : bias;
    if (start == nullptr) {
      acc[r][0] = acc[r][1] = hn::Zero(d);
      continue;
    }
    if (columns < kWidth) {
      std::memset(edge, 0, sizeof(edge));
      std::memcpy(edge, start, static_cast<std::size_t>(columns) * sizeof(float));
      start = edge;
    }
    acc[r][0] = hn::LoadU(d, start);
    if constexpr (!Half) acc[r][1] = hn::LoadU(d, start + kLanes);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const VF b0 = loadWide(d, b + k * kPanel);
    VF b1;
    if constexpr (!Half) b1 = loadWide(d, b + k * kPanel + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const VF x = hn::Set(d, a[r * lda + k]);
      acc[r][0] = hn::MulAdd(x, b0, acc[r][0]);
      if constexpr (!Half) acc[r][1] = hn::MulAdd(x, b1, acc[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
    float* to = columns < kWidth ? edge : c + r * ldc;
    hn::StoreU(acc[r][0], d, to);
    if constexpr (!Half) hn::StoreU(acc[r][1], d, to + kLanes);
    if (columns < kWidth) std::memcpy(c + r * ldc, edge, static_cast<std::size_t>(columns) * sizeof(float));
  }
}

/// Runs the micro kernel for `rows` rows, which are at most Rows.
template <int Rows, bool Half, class B>
HWY_INLINE void rowsOf(std::int64_t rows, const float* a, std::int64_t lda, const B* b, std::int64_t depth, float* c,
                       std::int64_t ldc, std::int64_t columns, const float* bias, bool carry) {
  if constexpr (Rows > 0) {
    if (rows == Rows) return micro<Rows, Half>(a, lda, b, depth, c, ldc, columns, bias, carry);
    rowsOf<Rows - 1, Half>(rows, a, lda, b, depth, c, ldc, columns, bias, carry);
  }
}

}  // namespace

namespace {

constexpr std::int64_t kStrip = 128;  ///< elements of each column that are widened before they are transposed

/// Packs contiguous columns, which become neighbours in a panel.
template <class T>
void packColumns(const T* from, std::int64_t columnStride, std::int64_t columns, std::int64_t k, float* to) {
  if constexpr (std::is_same_v<T, float>) {
    transpose(from, columnStride, to, kPanel, columns, k);
  } else {
    const F32 d;
    HWY_ALIGN float wide[kPanel * kStrip];
    for (std::int64_t at = 0; at < k; at += kStrip) {
      const std::int64_t depth = std::min(kStrip, k - at);
      for (std::int64_t j = 0; j < columns; ++j) {
        const T* column = from + j * columnStride + at;
        float* strip = wide + j * kStrip;
        std::int64_t i = 0;
        for (; i + kLanes <= depth; i += kLanes) hn::StoreU(loadWide(d, column + i), d, strip + i);
        for (; i < depth; ++i) strip[i] = widened(column[i]);
      }
      transpose(wide, kStrip, to + at * kPanel, kPanel, columns, depth);
    }
  }
}

template <class T>
void packPanel(const T* from, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t columns,
               float* to) {
  const F32 d;
  const std::int64_t first = std::min(columns, kLanes);
  if (columnStride == 1) {
    for (std::int64_t i = 0; i < k; ++i, from += rowStride, to += kPanel) {
      hn::StoreU(first == kLanes ? loadWide(d, from) : loadFirstWide(d, from, first), d, to);
      hn::StoreU(columns == kPanel  ? loadWide(d, from + kLanes)
                 : columns > kLanes ? loadFirstWide(d, from + kLanes, columns - kLanes)
                                    : hn::Zero(d),
                 d, to + kLanes);
    }
    return;
  }
  if (columns < kPanel) {
    for (std::int64_t i = 0; i < k; ++i) {
      hn::StoreU(hn::Zero(d), d, to + i * kPanel);
      hn::StoreU(hn::Zero(d), d, to + i * kPanel + kLanes);
    }
  }
  if (rowStride == 1) return packColumns(from, columnStride, columns, k, to);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to[i * kPanel + j] = widened(from[i * rowStride + j * columnStride]);
}

}  // namespace

void packHere(const Floats& b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
              std::int64_t firstPanel, std::int64_t panels, float* packed) {
  withFloats(b, [&](const auto* from) {
    for (std::int64_t p = firstPanel; p < firstPanel + panels; ++p)
      packPanel(from + p * kPanel * columnStride, rowStride, columnStride, k, std::min(kPanel, n - p * kPanel),
                packed + p * k * kPanel);
  });
}

namespace {

/// Multiplies all rows by one panel, in parts of nearly equal numbers of rows.
template <bool Half, class B>
void multiplyPanel(const GemmTask& task, std::int64_t at, std::int64_t depth, const B* b, float* c,
                   std::int64_t columns, const float* bias, bool carry) {
  const std::int64_t parts = (task.m + kRows - 1) / kRows;
  const std::int64_t least = task.m / parts, more = task.m % parts;  // `more` parts have one row more
  std::int64_t row = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t rows = least + (part < more ? 1 : 0);
    rowsOf<kRows, Half>(rows, task.a + row * task.lda + at, task.lda, b, depth, c + row * task.ldc, task.ldc, columns,
                        bias, carry);
    row += rows;
  }
}

}  // namespace

std::int64_t panelHere() {
  return kPanel;
}

namespace {

template <class B>
void multiply(const GemmTask& task, const B* packed) {
  const std::int64_t panelRows = task.panelRows == 0 ? task.k : task.panelRows;
  std::int64_t at = 0;
  do {
    const std::int64_t depth = std::min(kDepth, task.k - at);
    for (std::int64_t p = task.firstPanel; p < task.firstPanel + task.panels; ++p) {
      const std::int64_t columns = std::min(kPanel, task.n - p * kPanel);
      const B* b = packed + (p * panelRows + at) * kPanel;
      const float* bias = task.bias == nullptr ? nullptr : task.bias + p * kPanel;
      const bool carry = task.accumulate || at > 0;
      if (columns <= kLanes) {
        multiplyPanel<true>(task, at, depth, b, task.c + p * kPanel, columns, bias, carry);
      } else {
        multiplyPanel<false>(task, at, depth, b, task.c + p * kPanel, columns, bias, carry);
      }
    }
    at += depth;
  } while (at < task.k);
}

}  // namespace

void gemmHere(const GemmTask& task) {
  if (task.m == 0) return;
  withFloats(task.packed, [&](const auto* packed) { multiply(task, packed); });
}

}  // namespace fusescope::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fusescope::native {

HWY_EXPORT(panelHere);
HWY_EXPORT(gemmHere);
HWY_EXPORT(packHere);

std::int64_t gemmPanel() {
  static const std::int64_t panel = HWY_DYNAMIC_DISPATCH(panelHere)();
  return panel;
}

std::int64_t packedCount(std::int64_t k, std::int64_t n) {
  return (n + gemmPanel() - 1) / gemmPanel() * gemmPanel() * k;
}

void packPanels(const Floats& b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                std::int64_t firstPanel, std::int64_t panels, float* packed) {
  HWY_DYNAMIC_DISPATCH(packHere)(b, rowStride, columnStride, k, n, firstPanel, panels, packed);
}

void packAllPanels(const float* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                   const Floats& packed) {
  const std::int64_t panels = (n + gemmPanel() - 1) / gemmPanel(), each = gemmPanel() * k;
  const bool isWide = packed.type == DataType::F32;
  const int threads = omp_get_max_threads();
  std::vector<float> wide(isWide ? 0 : static_cast<std::size_t>(threads * each));  // a panel for each thread
#pragma omp parallel for num_threads(threads)
  for (std::int64_t p = 0; p < panels; ++p) {
    float* to = isWide ? reinterpret_cast<float*>(packed.at) + p * each : wide.data() + omp_get_thread_num() * each;
    const Floats first = floatsOf(b + p * gemmPanel() * columnStride);
    packPanels(first, rowStride, columnStride, k, n - p * gemmPanel(), 0, 1, to);
    if (!isWide) fromFloats(to, packed.from(p * each), static_cast<std::size_t>(each));
  }
}

void runGemm(const GemmTask& task) {
  HWY_DYNAMIC_DISPATCH(gemmHere)(task);
}

}  // namespace fusescope::native
#endif
