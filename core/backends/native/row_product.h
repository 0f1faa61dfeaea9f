#pragma once

#include <cstdint>

#include "backends/native/narrow_floats.h"

namespace fusescope::native {

/// A matrix [k, n] where it is: element (i, j) at data[i·rowStride + j·columnStride], of any floats.
struct MatrixView {
  Floats data;
  std::int64_t rowStride = 0, columnStride = 0;
  std::int64_t k = 0, n = 0;
};

/// target [n] = row [k] · matrix, without packing the matrix: for products of few rows. Fast where one of the strides
/// is 1.
void multiplyRow(const float* row, const MatrixView& matrix, float* target);

}  // namespace fusescope::native
