#pragma once

#include "ops/op_schema.h"
#include "ops/support/infer_support.h"

namespace fusescope::ops {

/// How a window moves over the spatial axes of an input: kernel, strides, dilations and padding, with one entry per
/// axis.
struct Window {
  Dims kernel, strides, dilations, padBegin, padEnd;
  std::string autoPad;
  bool ceilMode = false;

  /// Reads the attributes of a convolution or pooling node. `kernel` is the window of the weight, or empty for a pool.
  /// It is an error if a list has the wrong length, an extent is not positive, or kernel_shape contradicts the weight.
  static Result<Window> read(const Node& node, std::size_t spatial, Dims kernel);
  /// Returns the extent of the window including its dilation.
  std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// Returns the number of positions along `axis` for an input extent. It is an error if the window does not fit once.
  Result<std::int64_t> positions(std::size_t axis, std::int64_t extent) const;
  /// Sets padBegin and padEnd from auto_pad, once the spatial extents of the input are known.
  void resolvePads(std::span<const std::int64_t> extents);
  /// Returns the output extent for an input extent that may be open. If it is open, the result is an expression of it,
  /// and it is demanded that the window fits.
  Result<Dim> outputDim(const InferContext& context, std::size_t axis, const Dim& input) const;
};

}  // namespace fusescope::ops
