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
#include "engine/fused_extents.h"
#include "engine/kernel_store.h"
#include "engine/tensor_kernel.h"
#include "engine/tensor_step.h"

namespace fusescope {

/// A fused node that no kernel can be prepared for ahead of time: something it reads or makes is text, a container, or
/// of extents that depend on data; or it has a body. It meets whole tensors. Where all extents are known once its
/// inputs are there, a kernel of the backend is prepared for them and kept for the next time, if it runs on the host;
/// else its operators run one by one by the reference kernels.
class DynamicStep final : public TensorStep {
 public:
  /// Of `request` plan, fused node, constants and threads count. `types`: of each input, as the fused node wants it.
  /// `kernels` says for how many sets of extents kernels are kept, the one used longest ago going first, and counts how
  /// often one was there; it and `store` must outlive this.
  static Result<std::shared_ptr<DynamicStep>> prepare(const Backend& backend, KernelRequest request,
                                                      std::vector<DataType> types, KernelStore& store,
                                                      ShapeCacheCount& kernels);

  /// `inputs` as FusedNode::inputs; what comes back is as FusedNode::outputs and may share the bytes of inputs.
  /// Bodies ask `stop` between their nodes. Errors: those of the values; no kernel gets by with the plan's workspace.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const StopToken& stop = {}) override;

  /// What ran last, without its weights; null: the reference.
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
