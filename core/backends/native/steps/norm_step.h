#pragma once

#include <memory>
#include <optional>

#include "backends/native/region_program.h"

namespace fusescope::native {

/// Calculates y = (x - mean) / sqrt(variance + epsilon) · scale + bias over rows of `count` elements of a row-major
/// tensor; a root mean square norm does not subtract the mean. All operands are plain f32; `from` and `to` may be
/// narrow floats.
struct NormCall {
  Ref from, to;
  std::optional<Ref> scale, bias;    ///< `weights` numbers each, or one number
  std::optional<Ref> mean, inverse;  ///< outputs, if requested: one number per row; inverse is 1 / deviation
  std::int64_t count = 1;
  float epsilon = 0;
  bool centred = true;
  DataType rounded = DataType::Undefined;  ///< the narrow float to which the normalised value is rounded before scale
                                           ///< and bias
  /// Element i of the tensor has the weight (i / run) % weights: `run` is 1 and `weights` is `count` if weights follow
  /// the row itself.
  std::int64_t run = 1, weights = 1;
};

std::unique_ptr<Step> makeNormStep(NormCall call, int threads);

}  // namespace fusescope::native
