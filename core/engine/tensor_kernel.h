#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "base/aligned_memory.h"
#include "engine/kernel_store.h"

namespace fusescope {

/// A kernel that is given whole plain tensors, whatever formats its tactic wants: it converts what it reads and leaves.
/// One caller at a time.
class TensorKernel {
 public:
  /// On the host. `request` holds all values with their extents. Errors: the backend's.
  static Result<TensorKernel> prepare(const Backend& backend, const KernelRequest& request, const Tactic& tactic,
                                      KernelStore& store);

  /// `inputs` as FusedNode::inputs, at the types and extents of the request; gives tensors as FusedNode::outputs.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  /// Memory that a run needs besides its operands: the most of the kernel and its conversions.
  std::size_t scratchBytes() const;
  const std::shared_ptr<const Kernel>& kernel() const { return m_kernel; }

 private:
  /// One tensor that the kernel reads or leaves.
  struct Side {
    TensorDesc kernelSide;
    std::shared_ptr<const Kernel> conversion;  ///< null: it is plain there too
    AlignedMemory bytes, scratch;
  };
  static Result<Side> side(const Backend& backend, const TensorDesc& plain, const MemoryFormat& format, bool isInput,
                           int threads, KernelStore& store);

  std::shared_ptr<const Kernel> m_kernel;
  AlignedMemory m_scratch;
  std::vector<Side> m_inputs, m_outputs;
};

}  // namespace fusescope
