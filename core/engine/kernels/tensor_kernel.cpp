#include "engine/kernels/tensor_kernel.h"

#include <algorithm>

namespace fusescope {

Result<TensorKernel::Side> TensorKernel::side(const Backend& backend, const TensorDesc& plain,
                                              const MemoryFormat& format, bool isInput, int threads,
                                              KernelStore& store) {
  Side result{.kernelSide = plain};
  if (format.isPlain()) return result;
  result.kernelSide.format = format;
  const TensorDesc& from = isInput ? plain : result.kernelSide;
  const TensorDesc& to = isInput ? result.kernelSide : plain;
  result.conversion = TRY(store.conversion(backend, from, to, threads));
  result.bytes = AlignedMemory(result.kernelSide.bytes());
  result.scratch = AlignedMemory(result.conversion->workspaceBytes());
  return result;
}

Result<TensorKernel> TensorKernel::prepare(const Backend& backend, const KernelRequest& request, const Tactic& tactic,
                                           KernelStore& store) {
  const FusedNode& fused = *request.fused;
  TensorKernel made;
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    made.m_inputs.push_back(
        TRY(side(backend, request.values.at(fused.inputs[i]), tactic.inputs[i], true, request.threads, store)));
  for (std::size_t i = 0; i < fused.outputs.size(); ++i)
    made.m_outputs.push_back(TRY(
        side(backend, request.values.at(fused.outputs[i].value), tactic.outputs[i], false, request.threads, store)));
  made.m_kernel = TRY(store.kernel(backend, request, tactic));
  made.m_scratch = AlignedMemory(made.m_kernel->workspaceBytes());
  return made;
}

std::size_t TensorKernel::scratchBytes() const {
  std::size_t most = m_kernel->workspaceBytes();
  for (const auto* sides : {&m_inputs, &m_outputs})
    for (const Side& one : *sides)
      if (one.conversion != nullptr) most = std::max(most, one.conversion->workspaceBytes());
  return most;
}

Result<std::vector<Tensor>> TensorKernel::run(std::span<const Tensor> inputs) {
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::byte* given = inputs[i].bytes();
    Side& wanted = m_inputs[i];
    std::byte* converted = wanted.bytes.data();
    if (wanted.conversion != nullptr)
      TRY(wanted.conversion->run(std::span(&given, 1), std::span(&converted, 1), wanted.scratch.data()));
    in.push_back(wanted.conversion != nullptr ? converted : given);
  }
  for (Side& made : m_outputs) {
    results.push_back(Tensor::zeros(made.kernelSide.dtype, made.kernelSide.dims));
    out.push_back(made.conversion != nullptr ? made.bytes.data() : results.back().mutableBytes());
  }
  TRY(m_kernel->run(in, out, m_scratch.data()));
  for (std::size_t i = 0; i < m_outputs.size(); ++i) {
    Side& made = m_outputs[i];
    if (made.conversion == nullptr) continue;
    const std::byte* from = made.bytes.data();
    std::byte* to = results[i].mutableBytes();
    TRY(made.conversion->run(std::span(&from, 1), std::span(&to, 1), made.scratch.data()));
  }
  return results;
}

}  // namespace fusescope
