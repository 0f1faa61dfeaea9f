#pragma once

#include <cstdint>

#include "backends/native/kernels/narrow_floats.h"

namespace fusescope::native {

/// Calculates the softmax of one row, or its logarithm if `logarithm` is true; `target` may be `row`. A row of
/// -infinity gives NaN.
void softmaxRow(const float* row, float* target, std::int64_t count, bool logarithm);

struct NormRow {
  const float* scale = nullptr;  ///< null: 1
  const float* bias = nullptr;   ///< null: 0
  float epsilon = 0;
  bool centred = true;  ///< layer norm; false: root mean square norm
};
/// Normalises one row. `mean` and `inverse` (1 / deviation) receive its statistics unless they are null.
void normRow(const float* row, float* target, std::int64_t count, const NormRow& how, float* mean, float* inverse);

enum class ReduceKind { Sum, Mean, Max, Min, Prod, SumSquare, L1, L2, LogSum, LogSumExp };

/// Reduces one row of `count` elements to a number.
float reduceRow(const Floats& row, std::int64_t count, ReduceKind kind);
/// Reduces the first axis of [count, inner] (inner contiguous) to `target` [inner]. Only Sum, Mean, Max, Min and
/// SumSquare are supported.
void reduceColumns(const Floats& rows, std::int64_t count, std::int64_t inner, ReduceKind kind, float* target);

/// Returns the largest number of columns for softmaxColumns(): two vectors of this CPU.
std::int64_t columnBlock();
/// Calculates the softmax along each of the first `columns` columns of [count, stride]; `target` has the same layout as
/// `rows`. `own` has space for count · columnBlock() numbers.
void softmaxColumns(const Floats& rows, const Floats& target, std::int64_t count, std::int64_t stride,
                    std::int64_t columns, bool logarithm, float* own);

}  // namespace fusescope::native
