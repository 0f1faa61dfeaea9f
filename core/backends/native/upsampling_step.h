#pragma once

#include <memory>

#include "backends/native/program.h"

namespace fusescope::native {

/// A transposed convolution of two spatial axes whose kernel is as large as its strides: no two places of the input
/// reach the same place of the result. Plain operands: [n, in, h, w] and [n, out, h·down, w·across].
struct Upsampling {
  Ref from, to;
  std::int64_t down = 1, across = 1;
  Ref filters;  ///< [in, out, down, across]
  Ref bias;     ///< by output channel
};

/// For few output channels, where a matrix product would have hardly any rows.
std::unique_ptr<Step> makeUpsamplingStep(Upsampling at, int threads);

}  // namespace fusescope::native
