#pragma once

#include "ops/op_schema.h"
#include "ops/support/infer_support.h"

namespace fusescope::ops {

/// How a window passes over the spatial axes of an input: kernel, strides, dilations and padding, an entry per axis.
struct Window {
  Dims kernel, strides, dilations, padBegin, padEnd;
  std::string autoPad;
  bool ceilMode = false;

  /// From the attributes of a convolution or pooling node. `kernel` is what the weight says, empty for a pool;
  /// errors: wrong lengths, extents that are not positive, a kernel_shape that contradicts the weight.
  static Result<Window> read(const Node& node, std::size_t spatial, Dims kernel);
  /// Extents of the window with its dilation.
  std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// Number of positions along `axis` of an input extent; an error if the window does not fit once.
  Result<std::int64_t> positions(std::size_t axis, std::int64_t extent) const;
  /// Sets padBegin and padEnd from auto_pad, once the input's spatial extents are known.
  void resolvePads(std::span<const std::int64_t> extents);
  /// Output extents for symbolic input extents: known where they are, else expressions of them, and that the window
  /// fits is demanded.
  Result<Dim> outputDim(const InferContext& context, std::size_t axis, const Dim& input) const;
};

}  // namespace fusescope::ops
