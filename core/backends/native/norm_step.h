#pragma once

#include <memory>
#include <optional>

#include "backends/native/program.h"

namespace fusescope::native {

/// y = (x - mean) / sqrt(variance + epsilon) · scale + bias over rows of `count` elements of a row-major tensor;
/// without the mean for a root mean square norm. All operands are
/// f32 and plain; `from` and `to` may be narrow floats.
struct NormCall {
  Ref from, to;
  std::optional<Ref> scale, bias;    ///< `weights` numbers each; one number where they hold one
  std::optional<Ref> mean, inverse;  ///< where they are wanted: one number per row; inverse is 1 / deviation
  std::int64_t count = 1;
  float epsilon = 0;
  bool centred = true;
  DataType rounded = DataType::Undefined;  ///< what is normalised is, to this narrow float, before scale and bias
  /// Element i of the tensor has weight (i / run) % weights: 1 and `count` where weights run along the row itself.
  std::int64_t run = 1, weights = 1;
};

std::unique_ptr<Step> makeNormStep(NormCall call, int threads);

}  // namespace fusescope::native
