#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace fusescope::ops {

/// The weight of Keys' cubic convolution with coefficient `a` at distance `x`:
/// R. G. Keys, Cubic convolution interpolation for digital image processing, 1981.
double cubicWeight(double x, double a);

/// What a Resize (or Upsample) node asks for: a scale or a size for each of `axes`.
struct ResizeWish {
  std::vector<std::size_t> axes;
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<std::int64_t>> sizes;
};
/// `scales` and `sizes` may be null or unknown. Errors: as many as there are axes, and positive, or it is refused.
Result<ResizeWish> readResizeWish(const Node& node, std::size_t rank, const Tensor* scales, const Tensor* sizes);
/// The attributes' values are known ones.
Status checkResizeAttributes(const Node& node);
/// The extents that `dims` become.
Result<Dims> resizedDims(const Node& node, const Dims& dims, const ResizeWish& wish);

/// Input places (clamped to the axis) and their weights. Empty: the place is extrapolated.
using Taps = std::vector<std::pair<std::int64_t, double>>;

/// How one axis is resampled: each output place is a weighted sum of a few input places.
struct AxisResampling {
  std::size_t axis = 0;
  std::vector<Taps> taps;  ///< by output place
  bool copies = false;     ///< the axis stays as it is
};
/// The axes of a Resize or Upsample node over an input of extents `dims`, one after another. `roi` is asked only by
/// tf_crop_and_resize. The formulas are those of ONNX's Resize-19: https://onnx.ai/onnx/operators/onnx__Resize.html
Result<std::vector<AxisResampling>> axisResamplings(const Node& node, const Dims& dims, const ResizeWish& wish,
                                                    const Tensor* roi);

}  // namespace fusescope::ops
