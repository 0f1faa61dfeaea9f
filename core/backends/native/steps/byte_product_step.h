#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/native/kernels/byte_matrix.h"
#include "backends/native/region_program.h"

namespace fusescope::native {

/// Returns element `i` of `numbers`, which are int8 or uint8 and dense.
std::int32_t byteAt(const Ref& numbers, Memory memory, std::int64_t i = 0);

/// Makes a step that calculates ONNX's DynamicQuantizeLinear of the f32 tensor `x`; refs are plain.
std::unique_ptr<Step> makeDynamicQuantizeStep(Ref x, Ref codes, Ref scale, Ref zero, int threads);

/// Calculates sums [m, n], int32 = (a [m, k] - aZero) · (matrix - its zero points). Refs are plain and dense; `a` is
/// int8 or uint8, and `aZero` is one number of the same type.
struct ByteProductCall {
  Ref a;
  std::optional<Ref> aZero;
  ByteMatrix matrix;
  Ref sums;
  std::int64_t m = 0;
};
std::unique_ptr<Step> makeByteProductStep(ByteProductCall call, int threads);

}  // namespace fusescope::native
