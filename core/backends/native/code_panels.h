#pragma once

#include <cstdint>

#include "backends/native/weight.h"

namespace fusescope::native {

/// How a constant matrix [k, n] is held as codes of 4 or 8 bits: number = (code - zero) · scale.
struct CodeMatrix {
  Weight codes;  ///< int8, uint8, int4 or uint4: [k, n], or [n, k] if it is `turned`
  Weight scales;
  Weight zeros;  ///< of undefined type: all 0
  bool turned = false;
  std::int64_t k = 0, n = 0;
  std::int64_t block = 0;  ///< numbers along k that share a scale: k where all of a column do
  bool oneScale = false;   ///< for the whole matrix
  int bits() const { return isPacked(codes.type) ? 4 : 8; }
  std::int64_t blocks() const { return (k + block - 1) / block; }
};

/// Codes without sign in panels of gemmPanel() columns: each [k] rows of one byte for a column, or for two that are
/// half a panel apart, the first in the lower bits.
Packing codePanelPacking(const CodeMatrix& matrix);
/// f32, [blocks][columns], filled up to whole panels.
Packing panelScalePacking(const CodeMatrix& matrix);
/// The zeros of codes without sign, likewise.
Packing panelZeroPacking(const CodeMatrix& matrix);

/// The same in memory.
struct CodePanels {
  const std::uint8_t* codes = nullptr;
  const float *scales = nullptr, *zeros = nullptr;
  std::int64_t k = 0, n = 0, block = 0;
  int bits = 8;
};
/// to [count][gemmPanel()] = rows [begin, begin + count) of a panel, as numbers.
void widenPanel(const CodePanels& panels, std::int64_t panel, std::int64_t begin, std::int64_t count, float* to);
/// c [rows, columns of the panel] = a [rows, k] · panel + bias, in registers. Quicker than widening for as few rows as
/// stand in a decoder, where codes come from memory. `bias`, of these columns, may be null.
void multiplyByPanel(const CodePanels& panels, std::int64_t panel, const float* a, std::int64_t lda, std::int64_t rows,
                     const float* bias, float* c, std::int64_t ldc);

}  // namespace fusescope::native
