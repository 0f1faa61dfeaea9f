#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "backends/reference/reference_nodes.h"
#include "base/stop.h"
#include "engine/engine.h"
#include "engine/kernels/kernel_store.h"
#include "engine/kernels/tensor_kernel.h"
#include "engine/kernels/tensor_step.h"
#include "engine/program/fused_extents.h"

namespace fusescope {

/// A fused node for which no kernel can be prepared ahead of time, because it reads or writes text, a container, or
/// extents that depend on data, or because it has a body. It runs on whole tensors. If all extents are known once its
/// inputs are there, and the backend runs on the host, a kernel of the backend is prepared for these extents and kept
/// for the next run; otherwise the reference kernels run its operators one by one.
class DynamicStep final : public TensorStep {
 public:
  /// Uses the plan, fused node, constants and threads of `request`. `types` are the types in which the fused node reads
  /// its inputs. `kernels` limits for how many sets of extents kernels are kept (the least recently used is dropped
  /// first) and counts hits and misses; it and `store` must outlive this step.
  static Result<std::shared_ptr<DynamicStep>> prepare(const Backend& backend, KernelRequest request,
                                                      std::vector<DataType> types, KernelStore& store,
                                                      ShapeCacheCount& kernels);

  /// Takes tensors in the order of FusedNode::inputs and returns tensors in the order of FusedNode::outputs, which may
  /// share the bytes of inputs. Bodies check `stop` between their nodes. Errors: errors of the operators, or every
  /// kernel needs more scratch memory than the plan allows.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop = {}) override;

  /// Returns the code that ran last, without its weights; null if the reference kernels ran.
  std::shared_ptr<const Code> code() const;

 private:
  /// A kernel for certain extents. Without one, the reference runs it.
  struct Specialised {
    std::vector<Dims> extents;
    std::optional<TensorKernel> kernel;
    std::optional<std::int64_t> tooLittleWorkspace;  ///< bytes that a kernel would need; set: none may run
  };

  DynamicStep(const Backend& backend, KernelRequest request, std::vector<DataType> types, KernelStore& store,
              ShapeCacheCount& kernels)
      : m_backend(backend),
        m_request(std::move(request)),
        m_types(std::move(types)),
        m_store(store),
        m_kernels(kernels) {}
  Result<Specialised*> specialised(std::vector<Dims> extents);
  Status prepareKernel(Specialised& entry) const;
  Result<std::vector<Tensor>> runReference(std::span<const Tensor> inputs, const StopToken& stop);

  const Backend& m_backend;
  KernelRequest m_request;
  std::vector<DataType> m_types;
  KernelStore& m_store;
  ShapeCacheCount& m_kernels;
  std::unique_ptr<const ReferenceNodes> m_reference;
  std::optional<std::vector<Tensor>> m_constants;  ///< of m_reference, once that runs
  std::optional<FusedExtents> m_extents;           ///< none: always by the reference
  std::list<Specialised> m_specialised;            ///< the latest used first
  std::mutex m_mutex;                              ///< held while it runs
};

}  // namespace fusescope
