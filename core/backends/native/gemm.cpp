#include "backends/native/gemm.h"

#include <algorithm>
#include <cstring>

#include "backends/native/transpose.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "backends/native/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {

constexpr std::int64_t kLanes = HWY_MAX_BYTES / 4;
constexpr std::int64_t kPanel = 2 * kLanes;
/// Rows held in registers: with their two vectors each, two of B and one of A they fill 16 (or 32) registers.
constexpr int kRows = HWY_MAX_BYTES == 64 ? 12 : 6;
/// A stretch of k whose panel (k·panel floats) stays in L1.
constexpr std::int64_t kDepth = 320;

/// Rows × one panel, or its first half where no more columns are wanted; `carry`: adds to what c holds.
template <int Rows, bool Half>
HWY_INLINE void micro(const float* a, std::int64_t lda, const float* b, std::int64_t depth, float* c, std::int64_t ldc,
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
    const VF b0 = hn::LoadU(d, b + k * kPanel);
    VF b1;
    if constexpr (!Half) b1 = hn::LoadU(d, b + k * kPanel + kLanes);
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

/// The micro kernel of `rows` rows, up to Rows.
template <int Rows, bool Half>
HWY_INLINE void rowsOf(std::int64_t rows, const float* a, std::int64_t lda, const float* b, std::int64_t depth,
                       float* c, std::int64_t ldc, std::int64_t columns, const float* bias, bool carry) {
  if constexpr (Rows > 0) {
    if (rows == Rows) return micro<Rows, Half>(a, lda, b, depth, c, ldc, columns, bias, carry);
    rowsOf<Rows - 1, Half>(rows, a, lda, b, depth, c, ldc, columns, bias, carry);
  }
}

}  // namespace

void packHere(const float* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
              std::int64_t firstPanel, std::int64_t panels, float* packed) {
  const F32 d;
  for (std::int64_t p = firstPanel; p < firstPanel + panels; ++p) {
    const std::int64_t columns = std::min(kPanel, n - p * kPanel);
    const float* from = b + p * kPanel * columnStride;
    float* to = packed + p * k * kPanel;
    const std::int64_t first = std::min(columns, kLanes);
    if (columnStride == 1) {
      for (std::int64_t i = 0; i < k; ++i, from += rowStride, to += kPanel) {
        hn::StoreU(first == kLanes ? hn::LoadU(d, from) : loadFirst(d, from, first), d, to);
        hn::StoreU(columns == kPanel  ? hn::LoadU(d, from + kLanes)
                   : columns > kLanes ? loadFirst(d, from + kLanes, columns - kLanes)
                                      : hn::Zero(d),
                   d, to + kLanes);
      }
      continue;
    }
    if (columns < kPanel) {
      for (std::int64_t i = 0; i < k; ++i) {
        hn::StoreU(hn::Zero(d), d, to + i * kPanel);
        hn::StoreU(hn::Zero(d), d, to + i * kPanel + kLanes);
      }
    }
    if (rowStride == 1) {
      transpose(from, columnStride, to, kPanel, columns, k);
      continue;
    }
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < columns; ++j) to[i * kPanel + j] = from[i * rowStride + j * columnStride];
  }
}

namespace {

/// All rows by one panel, in even parts.
template <bool Half>
void multiplyPanel(const GemmTask& task, std::int64_t at, std::int64_t depth, const float* b, float* c,
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

void gemmHere(const GemmTask& task) {
  const std::int64_t panelRows = task.panelRows == 0 ? task.k : task.panelRows;
  if (task.m == 0) return;
  std::int64_t at = 0;
  do {
    const std::int64_t depth = std::min(kDepth, task.k - at);
    for (std::int64_t p = task.firstPanel; p < task.firstPanel + task.panels; ++p) {
      const std::int64_t columns = std::min(kPanel, task.n - p * kPanel);
      const float* b = task.packed + (p * panelRows + at) * kPanel;
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

void packPanels(const float* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                std::int64_t firstPanel, std::int64_t panels, float* packed) {
  HWY_DYNAMIC_DISPATCH(packHere)(b, rowStride, columnStride, k, n, firstPanel, panels, packed);
}

void runGemm(const GemmTask& task) {
  HWY_DYNAMIC_DISPATCH(gemmHere)(task);
}

}  // namespace fusescope::native
#endif
