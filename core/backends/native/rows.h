#pragma once

#include <cstdint>

#include "backends/native/narrow_floats.h"

namespace fusescope::native {

/// softmax of one row; `target` may be `row`. `logarithm`: its logarithm instead. A row of -infinity gives NaN.
void softmaxRow(const float* row, float* target, std::int64_t count, bool logarithm);

struct NormRow {
  const float* scale = nullptr;  ///< null: 1
  const float* bias = nullptr;   ///< null: 0
  float epsilon = 0;
  bool centred = true;  ///< layer norm; false: root mean square norm
};
/// Normalises one row; `mean` and `inverse` (1/deviation), where not null, receive its statistics.
void normRow(const float* row, float* target, std::int64_t count, const NormRow& how, float* mean, float* inverse);

enum class ReduceKind { Sum, Mean, Max, Min, Prod, SumSquare, L1, L2, LogSum, LogSumExp };

/// Reduces one row of `count` elements to a number.
float reduceRow(const Floats& row, std::int64_t count, ReduceKind kind);
/// Reduces the first axis of [count, inner] (inner contiguous) into `target` [inner]. Sum, Mean, Max, Min and SumSquare
/// only.
void reduceColumns(const Floats& rows, std::int64_t count, std::int64_t inner, ReduceKind kind, float* target);

/// Columns of [count, stride] that softmaxColumns() takes at most: as wide as memory is read at once.
std::int64_t columnBlock();
/// softmax down each of the first `columns` of [count, stride]; `target` lies as `rows` does. `own`: room for
/// count · columnBlock() numbers.
void softmaxColumns(const Floats& rows, const Floats& target, std::int64_t count, std::int64_t stride,
                    std::int64_t columns, bool logarithm, float* own);

}  // namespace fusescope::native
