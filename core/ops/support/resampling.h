#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {
struct Node;
}  // namespace fusescope

namespace fusescope::ops {

/// Returns the weight of Keys' cubic convolution with coefficient `a` at distance `x`: R. G. Keys, Cubic convolution
/// interpolation for digital image processing, 1981.
double cubicWeight(double x, double a);

/// What a Resize (or Upsample) node requests: a scale or a size for each of `axes`.
struct ResizeRequest {
  std::vector<std::size_t> axes;
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<std::int64_t>> sizes;
};
/// Reads a request. `scales` and `sizes` may be null or unknown. It is an error if their number differs from that of
/// the axes, or if they are not positive.
Result<ResizeRequest> readResizeRequest(const Node& node, std::size_t rank, const Tensor* scales, const Tensor* sizes);
/// Checks that the attributes have known values.
Status checkResizeAttributes(const Node& node);
/// Returns the extents of the result for an input of extents `dims`.
Result<Dims> resizedDims(const Node& node, const Dims& dims, const ResizeRequest& request);

/// Input indices (clamped to the axis) and their weights. If it is empty, the output element is extrapolated.
using Taps = std::vector<std::pair<std::int64_t, double>>;

/// How one axis is resampled: each output element is a weighted sum of a few input elements.
struct AxisResampling {
  std::size_t axis = 0;
  std::vector<Taps> taps;  ///< by output index
  bool copies = false;     ///< the axis is copied unchanged
};
/// Returns how each axis of a Resize or Upsample node is resampled, in the order in which this is done, for an input of
/// extents `dims`. `roi` is used only by tf_crop_and_resize. The formulas are those of ONNX's Resize-19:
/// https://onnx.ai/onnx/operators/onnx__Resize.html
Result<std::vector<AxisResampling>> axisResamplings(const Node& node, const Dims& dims, const ResizeRequest& request,
                                                    const Tensor* roi);

}  // namespace fusescope::ops
