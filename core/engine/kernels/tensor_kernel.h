#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "base/aligned_memory.h"
#include "engine/kernels/kernel_store.h"

namespace fusescope {

/// A kernel that runs on whole plain tensors, whatever formats its tactic needs: it converts its inputs and outputs. It
/// may be used by one caller at a time.
class TensorKernel {
 public:
  /// Prepares a kernel for the host. `request` contains all values with their extents. Errors: those of the backend.
  static Result<TensorKernel> prepare(const Backend& backend, const KernelRequest& request, const Tactic& tactic,
                                      KernelStore& store);

  /// Runs the kernel on tensors in the order of FusedNode::inputs, with the types and extents of the request. Returns
  /// tensors in the order of FusedNode::outputs.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs);
  /// Returns the memory that a run needs in addition to its operands: the maximum over the kernel and its conversions.
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
