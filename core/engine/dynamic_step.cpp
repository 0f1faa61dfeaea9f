#include "engine/dynamic_step.h"

#include <algorithm>

#include "backends/reference/convert_elements.h"
#include "backends/reference/reference_backend.h"
#include "engine/contract_numerics.h"
#include "engine/kernel_requests.h"
#include "engine/shared_count.h"
#include "engine/workspace.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

/// Whether extents can be told before the fused node ran, given its inputs.
bool isInferable(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  return std::ranges::all_of(request.fused->nodes, [&](NodeId id) {
    const Node& node = graph.node(id);
    const OpSchema* schema = OpRegistry::standard().find(node);
    return schema != nullptr && !schema->extentsDependOnData && !hasBody(node);
  });
}

}  // namespace

Result<std::shared_ptr<DynamicStep>> DynamicStep::prepare(const Backend& backend, KernelRequest request,
                                                          std::vector<DataType> types, KernelStore& store,
                                                          ShapeCacheCount& kernels) {
  std::shared_ptr<DynamicStep> step(new DynamicStep(backend, std::move(request), std::move(types), store, kernels));
  step->m_reference = TRY(ReferenceNodes::prepare(step->m_request));
  step->m_constants = TRY(step->m_reference->constantsOf(step->m_request));
  if (backend.name() != kReferenceBackend && backend.device().isHost() && isInferable(step->m_request))
    step->m_extents = TRY(FusedExtents::prepare(step->m_request));
  return step;
}

Result<DynamicStep::Reformat> DynamicStep::reformat(const TensorDesc& plain, const MemoryFormat& format,
                                                    bool isInput) const {
  Reformat result{.kernelSide = plain};
  if (format.isPlain()) return result;
  result.kernelSide.format = format;
  const TensorDesc& from = isInput ? plain : result.kernelSide;
  const TensorDesc& to = isInput ? result.kernelSide : plain;
  result.conversion = TRY(m_store.conversion(m_backend, from, to, m_request.threads));
  result.bytes = AlignedMemory(result.kernelSide.bytes());
  result.scratch = AlignedMemory(result.conversion->workspaceBytes());
  return result;
}

/// Fills `entry` with the backend's best guess for its extents; leaves it without a kernel where that is the reference.
Status DynamicStep::prepareKernel(Specialised& entry) const {
  const FusedNode& fused = *m_request.fused;
  const auto isEmpty = [](const Dims& dims) { return elementCount(dims).value_or(0) == 0; };
  if (std::ranges::any_of(entry.extents, isEmpty)) return Done{};
  KernelRequest request = m_request;
  for (std::size_t i = 0; i < entry.extents.size(); ++i) {
    const ValueId value = m_extents->values()[i];
    const DataType type = i < fused.inputs.size() ? m_types[i] : typeInside(*m_request.plan, fused, value);
    request.values[value] = {type, entry.extents[i]};
  }
  const std::int64_t limit = m_request.plan->options.workspaceBytes;
  for (const Tactic& tactic : m_backend.tactics(request)) {
    if (tactic.backend == kReferenceBackend) break;
    if (!beyondContract(*request.plan, fused, tactic.numerics).exact()) continue;
    TRY(prepareTactic(entry, request, tactic));
    const auto needed = static_cast<std::int64_t>(entry.scratchBytes());
    if (limit == 0 || needed <= limit) {
      entry.tooLittleWorkspace.reset();
      return Done{};
    }
    entry.tooLittleWorkspace = std::min(entry.tooLittleWorkspace.value_or(needed), needed);
    entry.kernel = nullptr;
  }
  return Done{};
}

Status DynamicStep::prepareTactic(Specialised& entry, const KernelRequest& request, const Tactic& tactic) const {
  const FusedNode& fused = *m_request.fused;
  entry.inputs.clear();
  entry.outputs.clear();
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    entry.inputs.push_back(TRY(reformat(request.values.at(fused.inputs[i]), tactic.inputs[i], true)));
  for (std::size_t i = 0; i < fused.outputs.size(); ++i)
    entry.outputs.push_back(TRY(reformat(request.values.at(fused.outputs[i].value), tactic.outputs[i], false)));
  std::shared_ptr<const Kernel> kernel = TRY(m_store.kernel(m_backend, request, tactic));
  entry.scratch = AlignedMemory(kernel->workspaceBytes());
  entry.kernel = std::move(kernel);
  return Done{};
}

std::size_t DynamicStep::Specialised::scratchBytes() const {
  std::size_t most = kernel->workspaceBytes();
  for (const auto* sides : {&inputs, &outputs})
    for (const Reformat& side : *sides)
      if (side.conversion != nullptr) most = std::max(most, side.conversion->workspaceBytes());
  return most;
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
  // A kernel that cannot be prepared is no way to run it; the reference always is.
  if (!prepareKernel(entry).ok()) entry.kernel = nullptr;
  m_specialised.push_front(std::move(entry));
  if (m_specialised.size() > static_cast<std::size_t>(m_kernels.size)) m_specialised.pop_back();
  return &m_specialised.front();
}

Result<std::vector<Tensor>> DynamicStep::runKernel(Specialised& entry, std::span<const Tensor> inputs) const {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::byte* given = inputs[i].bytes();
    Reformat& wanted = entry.inputs[i];
    std::byte* converted = wanted.bytes.data();
    if (wanted.conversion != nullptr)
      TRY(wanted.conversion->run(std::span(&given, 1), std::span(&converted, 1), wanted.scratch.data()));
    in.push_back(wanted.conversion != nullptr ? converted : given);
  }
  for (Reformat& made : entry.outputs) {
    results.push_back(Tensor::zeros(made.kernelSide.dtype, made.kernelSide.dims));
    out.push_back(made.conversion != nullptr ? made.bytes.data() : results.back().mutableBytes());
  }
  TRY(entry.kernel->run(in, out, entry.scratch.data()));
  for (std::size_t i = 0; i < entry.outputs.size(); ++i) {
    Reformat& made = entry.outputs[i];
    if (made.conversion == nullptr) continue;
    const std::byte* from = made.bytes.data();
    std::byte* to = results[i].mutableBytes();
    TRY(made.conversion->run(std::span(&from, 1), std::span(&to, 1), made.scratch.data()));
  }
  return results;
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
      if (entry->kernel != nullptr) return runKernel(*entry, given);
    }
  }
  return m_reference->run(given, m_constants, stop);
}

}  // namespace fusescope
