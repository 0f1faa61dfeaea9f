#pragma once

#include <cstdint>

#include "backends/native/kernels/narrow_floats.h"

namespace fusescope::native {

// Single-precision matrix products over panels: B [k, n] is packed once into panels of gemmPanel() columns, each
// [k][panel] and padded with zeros, so that the inner loop reads it in order. Panels of narrow floats
// are widened in registers.

/// Returns the columns of a panel: twice the vector width of this CPU.
std::int64_t gemmPanel();
/// Returns the elements of the packed form of a [k, n] matrix.
std::int64_t packedCount(std::int64_t k, std::int64_t n);
/// Packs `panels` panels from column firstPanel·gemmPanel() on. Element (i, j) of `b` is at b[i·rowStride +
/// j·columnStride].
void packPanels(const Floats& b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                std::int64_t firstPanel, std::int64_t panels, float* packed);
/// Packs all panels of `b`, which is f32, in the type of `packed`.
void packAllPanels(const float* b, std::int64_t rowStride, std::int64_t columnStride, std::int64_t k, std::int64_t n,
                   const Floats& packed);

/// Calculates c = a·b (+ bias) for panels [firstPanel, firstPanel + panels) of b.
struct GemmTask {
  const float* a = nullptr;  ///< [m, k], rows `lda` apart, contiguous in k
  std::int64_t lda = 0;
  Floats packed;
  float* c = nullptr;  ///< [m, n], rows `ldc` apart, contiguous in n
  std::int64_t ldc = 0;
  const float* bias = nullptr;  ///< [n], or null
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t firstPanel = 0, panels = 0;
  std::int64_t panelRows = 0;  ///< rows of a packed panel if `packed` begins inside it; 0: k
  bool accumulate = false;     ///< adds to the contents of c; bias must then be null
};
void runGemm(const GemmTask& task);

}  // namespace fusescope::native
