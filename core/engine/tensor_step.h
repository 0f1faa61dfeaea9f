#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "engine/kernel.h"
#include "ir/tensor.h"

namespace fusescope {

/// A step whose operands or results are known only while it runs. It has a state: callers take turns.
class TensorStep {
 public:
  virtual ~TensorStep() = default;
  /// `inputs` as FusedNode::inputs; what comes back is as FusedNode::outputs and may share the bytes of inputs.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop) = 0;
};

/// A node with bodies. Where all it reads and leaves has bytes it runs on those; else on tensors.
class BodyStep : public TensorStep {
 public:
  using TensorStep::run;
  /// As Code::run(), with operands of the extents that it was prepared for. Allocates nothing but what its bodies do.
  virtual Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     const StopToken& stop) = 0;
  /// Adds those of the kernels of its bodies, as far as they are prepared.
  virtual void addWeights(PackedSet& weights) const = 0;
};

}  // namespace fusescope
