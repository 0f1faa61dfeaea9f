#pragma once

#include <cstdint>

#include "backends/native/weight.h"

namespace fusescope::native {

/// A constant matrix [k, n] that is stored as codes of 4 or 8 bits: number = (code - zero) · scale.
struct CodeMatrix {
  Weight codes;  ///< int8, uint8, int4 or uint4: [k, n], or [n, k] if it is `turned`
  Weight scales;
  Weight zeros;  ///< if its type is undefined, all zeros are 0
  bool turned = false;
  std::int64_t k = 0, n = 0;
  std::int64_t block = 0;  ///< numbers along k that share a scale; k if a whole column does
  bool oneScale = false;   ///< one scale for the whole matrix
  int bits() const { return isPacked(codes.type) ? 4 : 8; }
  std::int64_t blocks() const { return (k + block - 1) / block; }
};

/// Packs the codes as unsigned codes in panels of gemmPanel() columns. Each panel has [k] rows; one byte contains the
/// code of one column, or the codes of two columns half a panel apart, the first in the lower bits.
Packing codePanelPacking(const CodeMatrix& matrix);
/// Packs the scales as f32, [blocks][columns], padded to whole panels.
Packing panelScalePacking(const CodeMatrix& matrix);
/// Packs the zeros of the unsigned codes in the same layout.
Packing panelZeroPacking(const CodeMatrix& matrix);

/// The packed matrix in memory.
struct CodePanels {
  const std::uint8_t* codes = nullptr;
  const float *scales = nullptr, *zeros = nullptr;
  std::int64_t k = 0, n = 0, block = 0;
  int bits = 8;
};
/// Converts rows [begin, begin + count) of a panel to numbers: `to` is [count][gemmPanel()].
void widenPanel(const CodePanels& panels, std::int64_t panel, std::int64_t begin, std::int64_t count, float* to);
/// Calculates c [rows, columns of the panel] = a [rows, k] · panel + bias, converting codes in registers. For the few
/// rows of a decoder, where reading codes from memory takes most of the time, this is faster than converting first.
/// `bias` is for these columns and may be null.
void multiplyByPanel(const CodePanels& panels, std::int64_t panel, const float* a, std::int64_t lda, std::int64_t rows,
                     const float* bias, float* c, std::int64_t ldc);

}  // namespace fusescope::native
