#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "base/stop.h"
#include "engine/program.h"

namespace fusescope {

/// 64-byte aligned bytes, not initialised. Throws std::bad_alloc.
class AlignedMemory {
 public:
  AlignedMemory() = default;
  explicit AlignedMemory(std::size_t bytes);
  std::byte* data() const { return m_data.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> m_data;
};

/// Runs a program: owns its arena and the pointer of every operand, so that a run allocates nothing of its own.
/// One caller at a time.
class Executor {
 public:
  explicit Executor(Program program);
  const Program& program() const { return m_program; }

  /// Points at the caller's tensors: `inputs` as Graph::inputs, `outputs` as Program::outputs. They must stay until
  /// the last run.
  void bind(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  Status runStep(std::size_t step);
  /// All steps. Errors: a kernel's, located at its fused node; cancellation.
  Status run(const StopToken& stop);

 private:
  std::byte* address(std::size_t buffer) const;

  Program m_program;
  AlignedMemory m_arena;
  std::vector<std::byte*> m_inputs, m_outputs;
  std::vector<std::vector<const std::byte*>> m_stepInputs;
  std::vector<std::vector<std::byte*>> m_stepOutputs;
};

}  // namespace fusescope
