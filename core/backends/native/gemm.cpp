#include "backends/native/gemm.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/native/gemm.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fusescope::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

constexpr std::int64_t kLanes = HWY_MAX_BYTES / 4;
constexpr std::int64_t kPanel = 2 * kLanes;
/// Rows held in registers: with their two vectors each, two of B and one of A they fill 16 (or 32) registers.
constexpr int kRows = HWY_MAX_BYTES == 64 ? 12 : 6;
/// A stretch of k whose panel (k·panel floats) stays in L1.
constexpr std::int64_t kDepth = 320;

/// Rows × one panel; `carry`: adds to what c holds.
template <int Rows>
HWY_INLINE void micro(const float* a, std::int64_t lda, const float* b, std::int64_t depth, float* c, std::int64_t ldc,
                      std::int64_t columns, const float* bias, bool carry) {
  const F32 d;
  VF acc[Rows][2];
  HWY_ALIGN float edge[kPanel];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
    const float* start = carry ? c + r * ldc : bias;
    if (start == nullptr) {
      acc[r][0] = acc[r][1] = hn::Zero(d);
      continue;
    }
    if (columns < kPanel) {
      std::memset(edge, 0, sizeof(edge));
      std::memcpy(edge, start, static_cast<std::size_t>(columns) * sizeof(float));
      start = edge;
    }
    acc[r][0] = hn::LoadU(d, start);
    acc[r][1] = hn::LoadU(d, start + kLanes);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    const VF b0 = hn::LoadU(d, b + k * kPanel);
    const VF b1 = hn::LoadU(d, b + k * kPanel + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const VF x = hn::Set(d, a[r * lda + k]);
      acc[r][0] = hn::MulAdd(x, b0, acc[r][0]);
      acc[r][1] = hn::MulAdd(x, b1, acc[r][1]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
    float* to = columns < kPanel ? edge : c + r * ldc;
    hn::StoreU(acc[r][0], d, to);
    hn::StoreU(acc[r][1], d, to + kLanes);
    if (columns < kPanel) std::memcpy(c + r * ldc, edge, static_cast<std::size_t>(columns) * sizeof(float));
  }
}

template <int Rows>
HWY_INLINE void rest(std::int64_t rows, const float* a, std::int64_t lda, const float* b, std::int64_t depth, float* c,
                     std::int64_t ldc, std::int64_t columns, const float* bias, bool carry) {
  if constexpr (Rows > 0) {
    if (rows == Rows) return micro<Rows>(a, lda, b, depth, c, ldc, columns, bias, carry);
    rest<Rows - 1>(rows, a, lda, b, depth, c, ldc, columns, bias, carry);
  }
}

}  // namespace

std::int64_t panelHere() {
  return kPanel;
}

void gemmHere(const GemmTask& task) {
  std::int64_t at = 0;
  do {
    const std::int64_t depth = std::min(kDepth, task.k - at);
    for (std::int64_t p = task.firstPanel; p < task.firstPanel + task.panels; ++p) {
      const std::int64_t columns = std::min(kPanel, task.n - p * kPanel);
      const float* b = task.packed + p * task.k * kPanel + at * kPanel;
      const float* bias = task.bias == nullptr ? nullptr : task.bias + p * kPanel;
      float* c = task.c + p * kPanel;
      std::int64_t row = 0;
      for (; row + kRows <= task.m; row += kRows) {
        micro<kRows>(task.a + row * task.lda + at, task.lda, b, depth, c + row * task.ldc, task.ldc, columns, bias,
                     at > 0);
      }
      rest<kRows - 1>(task.m - row, task.a + row * task.lda + at, task.lda, b, depth, c + row * task.ldc, task.ldc,
                      columns, bias, at > 0);
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

std::int64_t gemmPanel() {
  static const std::int64_t panel = HWY_DYNAMIC_DISPATCH(panelHere)();
  return panel;
}

std::int64_t packedCount(std::int64_t k, std::int64_t n) {
  return (n + gemmPanel() - 1) / gemmPanel() * gemmPanel() * k;
}

void packPanels(const float* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                std::int64_t firstPanel, std::int64_t panels, float* packed) {
  const std::int64_t panel = gemmPanel();
  for (std::int64_t p = firstPanel; p < firstPanel + panels; ++p) {
    const std::int64_t columns = std::min(panel, n - p * panel);
    for (std::int64_t i = 0; i < k; ++i) {
      const float* from = b + i * rowStride + p * panel * columnStride;
      float* to = packed + p * k * panel + i * panel;
      for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j * columnStride];
      for (std::int64_t j = columns; j < panel; ++j) to[j] = 0.0f;
    }
  }
}

void runGemm(const GemmTask& task) {
  HWY_DYNAMIC_DISPATCH(gemmHere)(task);
}

}  // namespace fusescope::native
#endif
