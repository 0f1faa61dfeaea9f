#pragma once

#include <cstdint>

#include "backends/native/narrow_floats.h"

namespace fusescope::native {

// Single-precision matrix products over panels: B [k, n] is packed once into panels of gemmPanel() columns, each
// [k][panel] and padded with zeros, so that the inner loop reads it in order. Panels of narrow floats
// are widened in registers.

/// Columns of a panel: twice the vector width of this CPU.
std::int64_t gemmPanel();
/// Elements that the packed form of a [k, n] matrix takes.
std::int64_t packedCount(std::int64_t k, std::int64_t n);
/// Packs columns [firstPanel·panel, …) of `b`, whose element (i, j) is at b[i·rowStride + j·columnStride].
void packPanels(const Floats& b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                std::int64_t firstPanel, std::int64_t panels, float* packed);
/// All panels of the f32 `b`, in the type of `packed`.
void packAllPanels(const float* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                   const Floats& packed);

/// c = a·b (+ bias), for panels [firstPanel, firstPanel + panels) of b.
struct GemmTask {
  const float* a = nullptr;  ///< [m, k], rows `lda` apart, contiguous in k
  std::int64_t lda = 0;
  Floats packed;
  float* c = nullptr;  ///< [m, n], rows `ldc` apart, contiguous in n
  std::int64_t ldc = 0;
  const float* bias = nullptr;  ///< [n], or null
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t firstPanel = 0, panels = 0;
  std::int64_t panelRows = 0;  ///< rows of a packed panel where `packed` begins inside it; 0: k
  bool accumulate = false;     ///< adds to what c holds; no bias then
};
void runGemm(const GemmTask& task);

}  // namespace fusescope::native
