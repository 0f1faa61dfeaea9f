#include "engine/steps/dynamic_step.h"

#include <algorithm>

#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_backend.h"
#include "engine/kernels/contract_numerics.h"
#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/workspace.h"
#include "engine/program/shared_count.h"

namespace fusescope {
Result<std::shared_ptr<DynamicStep>> DynamicStep::prepare(const Backend& backend, KernelRequest request,
                                                          std::vector<DataType> types, KernelStore& store,
                                                          ShapeCacheCount& kernels) {
  std::shared_ptr<DynamicStep> step(new DynamicStep(backend, std::move(request), std::move(types), store, kernels));
  step->m_reference = TRY(ReferenceNodes::prepare(step->m_request));
  if (backend.name() != kReferenceBackend && backend.device().isHost())
    step->m_extents = TRY(FusedExtents::prepare(step->m_request));
  return step;
}

/// Fills `entry` with the backend's best guess for its extents. Leaves it without a kernel if that guess is the
/// reference.
Status DynamicStep::prepareKernel(Specialised& entry) const {
  const FusedNode& fused = *m_request.fused;
  const auto isEmpty = [](const Dims& dims) { return elementCount(dims).value_or(0) == 0; };
  if (std::ranges::any_of(entry.extents, isEmpty)) return Done{};
  KernelRequest request = m_request;
  const InnerTypes inner(*request.plan, fused);
  for (std::size_t i = 0; i < entry.extents.size(); ++i) {
    const ValueId value = m_extents->values()[i];
    const DataType type = i < fused.inputs.size() ? m_types[i] : inner.of(value);
    request.values[value] = {type, entry.extents[i]};
  }
  const std::int64_t limit = m_request.plan->options.workspaceBytes;
  for (const Tactic& tactic : m_backend.tactics(request)) {
    if (tactic.backend == kReferenceBackend) break;
    if (!beyondContract(*request.plan, fused, tactic.numerics).exact()) continue;
    entry.kernel = TRY(TensorKernel::prepare(m_backend, request, tactic, m_store));
    const auto needed = static_cast<std::int64_t>(entry.kernel->scratchBytes());
    if (limit == 0 || needed <= limit) {
      entry.tooLittleWorkspace.reset();
      return Done{};
    }
    entry.tooLittleWorkspace = std::min(entry.tooLittleWorkspace.value_or(needed), needed);
    entry.kernel.reset();
  }
  return Done{};
}

Result<DynamicStep::Specialised*> DynamicStep::specialised(std::vector<Dims> extents) {
  const auto found = std::ranges::find(m_specialised, extents, &Specialised::extents);
  if (found != m_specialised.end()) {
    countBesideOthers(m_kernels.hits);
    m_specialised.splice(m_specialised.begin(), m_specialised, found);
    return &m_specialised.front();
  }
  countBesideOthers(m_kernels.misses);
  Specialised entry{.extents = std::move(extents)};
  // If the kernel cannot be prepared, the node runs on the reference, which is always possible.
  if (!prepareKernel(entry).ok()) entry.kernel.reset();
  m_specialised.push_front(std::move(entry));
  if (m_specialised.size() > static_cast<std::size_t>(m_kernels.size)) m_specialised.pop_back();
  return &m_specialised.front();
}

Result<std::vector<Tensor>> DynamicStep::runReference(std::span<const Tensor> inputs, const StopToken& stop) {
  if (!m_constants) m_constants = TRY(m_reference->constantsOf(m_request));
  return m_reference->run(inputs, *m_constants, stop);
}

std::shared_ptr<const Code> DynamicStep::code() const {
  const bool byKernel = !m_specialised.empty() && m_specialised.front().kernel;
  return byKernel ? m_specialised.front().kernel->kernel()->code() : nullptr;
}

Result<std::vector<Tensor>> DynamicStep::run(std::span<const Tensor> inputs, const StopToken& stop) {
  const std::lock_guard lock(m_mutex);
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) given.push_back(convertedTensor(inputs[i], m_types[i]));
  if (m_extents) {
    if (auto extents = m_extents->infer(given)) {
      Specialised* entry = TRY(specialised(std::move(*extents)));
      if (const auto least = entry->tooLittleWorkspace)
        return tooLittleWorkspace(m_request.fused->name, *least, m_request.plan->options.workspaceBytes);
      if (entry->kernel) return entry->kernel->run(given);
    }
  }
  return runReference(given, stop);
}

}  // namespace fusescope
