#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/stop.h"
#include "engine/aligned_memory.h"
#include "engine/program.h"

namespace fusescope {

/// Runs a program: owns its arena and the pointer of every operand, so that a run allocates nothing of its own but
/// what dynamic steps make. One caller at a time.
class Executor {
 public:
  explicit Executor(Program program);
  const Program& program() const { return m_program; }

  /// Points at the caller's tensors: `inputs` as Graph::inputs, `outputs` as Program::outputs (empty tensors for
  /// those that takeBoxed() gives). They must stay until the last run.
  void bind(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  Status runStep(std::size_t step, const StopToken& stop = {});
  /// All steps. Errors: a kernel's, located at its fused node; cancellation.
  Status run(const StopToken& stop);
  /// After a run: the tensors of the outputs that are not written in place, at the types they are handed out at.
  void takeBoxed(std::span<Tensor> outputs);

 private:
  std::byte* address(std::size_t buffer) const;
  Tensor operand(std::size_t buffer) const;
  Status runDynamic(const Step& step, const StopToken& stop);
  Status store(std::size_t buffer, Tensor tensor, std::span<const Tensor> operands);

  Program m_program;
  AlignedMemory m_arena;
  std::vector<std::byte*> m_inputs, m_outputs;
  std::vector<Tensor> m_boxes;
  std::vector<std::vector<const std::byte*>> m_stepInputs;
  std::vector<std::vector<std::byte*>> m_stepOutputs;
};

}  // namespace fusescope
