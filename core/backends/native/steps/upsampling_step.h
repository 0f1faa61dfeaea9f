#pragma once

#include <memory>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// A transposed convolution over two spatial axes whose kernel extents equal its strides, so that each result depends
/// on one input position only. Operands are plain: [n, in, h, w] and [n, out, h·down, w·across].
struct Upsampling {
  Ref from, to;
  std::int64_t down = 1, across = 1;
  Ref filters;  ///< [in, out, down, across]
  Ref bias;     ///< one number per output channel
};

/// Makes a step for few output channels, for which a matrix product would have too few rows.
std::unique_ptr<Step> makeUpsamplingStep(Upsampling at, int threads);

}  // namespace fusescope::native
