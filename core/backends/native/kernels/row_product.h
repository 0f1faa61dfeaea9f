#pragma once

#include <cstdint>

#include "backends/native/kernels/narrow_floats.h"

namespace fusescope::native {

/// A matrix [k, n] in any memory: element (i, j) is at data[i·rowStride + j·columnStride]. It may be of any float type.
struct MatrixView {
  Floats data;
  std::int64_t rowStride = 0, columnStride = 0;
  std::int64_t k = 0, n = 0;
};

/// Calculates target [n] = row [k] · matrix without packing the matrix, for products of few rows. It is fast if one of
/// the strides is 1.
void multiplyRow(const float* row, const MatrixView& matrix, float* target);

}  // namespace fusescope::native
