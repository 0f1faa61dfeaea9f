#include "engine/executor.h"

#include <algorithm>
#include <new>

namespace fusescope {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

AlignedMemory::AlignedMemory(std::size_t bytes) {
  const std::size_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  m_data.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!m_data) throw std::bad_alloc();
}

Executor::Executor(Program program) : m_program(std::move(program)), m_arena(m_program.arenaBytes) {
  m_inputs.resize(m_program.inputs.size());
  m_outputs.resize(m_program.outputs.size());
  for (const Step& step : m_program.steps) {
    m_stepInputs.emplace_back(step.inputs.size());
    m_stepOutputs.emplace_back(step.outputs.size());
  }
}

std::byte* Executor::address(std::size_t id) const {
  const Buffer& buffer = m_program.buffers[m_program.buffers[id].root];
  switch (buffer.place) {
    case Place::Arena:
      return m_arena.data() + buffer.offset;
    case Place::Input:
      return m_inputs[buffer.index];
    case Place::Output:
      return m_outputs[buffer.index];
    // Nothing writes to it: a constant is only ever the source of a conversion.
    case Place::Constant:
      return const_cast<std::byte*>(m_program.constants[buffer.index].bytes());
  }
  return nullptr;
}

void Executor::bind(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) m_inputs[i] = const_cast<std::byte*>(inputs[i].bytes());
  for (std::size_t i = 0; i < outputs.size(); ++i) m_outputs[i] = outputs[i].mutableBytes();
  for (std::size_t i = 0; i < m_program.steps.size(); ++i) {
    const Step& step = m_program.steps[i];
    for (std::size_t k = 0; k < step.inputs.size(); ++k) m_stepInputs[i][k] = address(step.inputs[k]);
    for (std::size_t k = 0; k < step.outputs.size(); ++k) m_stepOutputs[i][k] = address(step.outputs[k]);
  }
}

Status Executor::runStep(std::size_t i) {
  const Step& step = m_program.steps[i];
  return step.kernel->run(m_stepInputs[i], m_stepOutputs[i], m_arena.data() + step.scratchOffset);
}

Status Executor::run(const StopToken& stop) {
  for (std::size_t i = 0; i < m_program.steps.size(); ++i) {
    TRY(checkStop(stop));
    Status status = runStep(i);
    if (status.ok()) continue;
    Diagnostic error = std::move(status).error();
    if (error.where.node.empty()) error.where.node = m_program.steps[i].name;
    return error;
  }
  return Done{};
}

}  // namespace fusescope
