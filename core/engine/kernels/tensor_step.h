#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/stop.h"
#include "engine/kernels/kernel.h"
#include "ir/tensor.h"

namespace fusescope {

/// A step whose operands or results are known only while it runs. It has a state, so callers must take turns.
class TensorStep {
 public:
  virtual ~TensorStep() = default;
  /// Takes tensors in the order of FusedNode::inputs and returns tensors in the order of FusedNode::outputs, which may
  /// share the bytes of inputs.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop) = 0;
};

/// A node with bodies. It runs on bytes if all its operands and results have bytes, and on tensors otherwise.
class BodyStep : public TensorStep {
 public:
  using TensorStep::run;
  /// Runs on bytes like Code::run(), with operands of the extents that it was prepared for. Only its bodies allocate
  /// memory.
  virtual Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                     const StopToken& stop) = 0;
  /// Adds the packed weights of the kernels of its bodies, as far as they are prepared.
  virtual void addWeights(PackedSet& weights) const = 0;
};

}  // namespace fusescope
