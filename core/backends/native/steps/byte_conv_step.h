#pragma once

#include <memory>
#include <optional>

#include "backends/native/node_window.h"
#include "backends/native/region_program.h"
#include "backends/native/weight.h"

namespace fusescope::native {

/// Calculates sums [batch, channels, height, width], int32 = convolution of (x - zero point) with (constant filters -
/// zero points). Refs are plain and dense with two spatial axes. `x` is int8 or uint8, and `xZero` is one number of the
/// same type.
struct ByteConvCall {
  Ref x;
  std::optional<Ref> xZero;
  Dims filterDims;                  ///< [channels, inputs / groups, kernel…]
  BufferIndex filters = kNoBuffer;  ///< made by byteFilterPacking()
  bool filterZerosAreZero = false;  ///< whether the zero points of the packed filters are 0
  Window window;
  std::int64_t groups = 1;
  Ref sums;
};
/// Packs `filters` of int8 or uint8; `zeros` has one number, or one for each channel.
Packing byteFilterPacking(Weight filters, std::optional<Weight> zeros);
std::unique_ptr<Step> makeByteConvStep(ByteConvCall call, int threads);

}  // namespace fusescope::native
