#pragma once

#include <memory>
#include <optional>

#include "backends/native/program.h"
#include "backends/native/weight.h"
#include "backends/native/window.h"

namespace fusescope::native {

/// sums [batch, channels, height, width], int32 = convolution of x less its zero point with constant filters less
/// theirs. Refs are plain and dense with two spatial axes, `x` of int8 or uint8, `xZero` one number of the same type.
struct ByteConvCall {
  Ref x;
  std::optional<Ref> xZero;
  Dims filterDims;                  ///< [channels, inputs / groups, kernel…]
  BufferIndex filters = kNoBuffer;  ///< of byteFilterPacking()
  bool filterZerosAreZero = false;  ///< as they are packed
  Window window;
  std::int64_t groups = 1;
  Ref sums;
};
/// `filters` of int8 or uint8, `zeros` one number, or one for each channel.
Packing byteFilterPacking(Weight filters, std::optional<Weight> zeros);
std::unique_ptr<Step> makeByteConvStep(ByteConvCall call, int threads);

}  // namespace fusescope::native
