#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/stop.h"
#include "engine/arena_memory.h"
#include "engine/program.h"
#include "engine/step_kernels.h"

namespace fusescope {

/// The mutable state of one caller of a program: arenas, streams and the address of every operand, so that a run
/// allocates nothing of its own but what dynamic steps make. One caller at a time; any number of executors may run one
/// program beside each other, where only steps that have a state (bodies, extents that depend on data) take turns.
class Executor {
 public:
  explicit Executor(std::shared_ptr<const Program> program)
      : Executor(std::move(program), std::make_shared<ArenaMemory>()) {}
  /// Shares the memory of arenas with executors that never run while this one does. After another one was made or
  /// changed, this one is to be bound again before it runs.
  Executor(std::shared_ptr<const Program> program, std::shared_ptr<ArenaMemory> arenas);
  const Program& program() const { return *m_program; }
  /// After extents, kernels and places of the program were changed, which nobody else runs meanwhile: takes them over.
  /// Memory of arenas only grows. What was bound is to be bound again.
  void programChanged();

  /// From now on runs steps by these kernels in place of their own, until the program changes; null: by their own.
  void useKernels(std::shared_ptr<const StepKernels> kernels) { m_kernels = std::move(kernels); }

  /// Points at the caller's tensors: `inputs` as Graph::inputs, `outputs` as Program::outputs (empty tensors for
  /// those that takeBoxed() gives). They must stay until the last run.
  void bind(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  // The same for one operand alone, and for bytes that are in no tensor. They allocate nothing.
  void setInput(std::size_t i, const std::byte* bytes);
  void setBoxedInput(std::size_t i, Tensor tensor);
  void setOutput(std::size_t i, std::byte* bytes);
  /// Told of each step that ran: which, and how long it took there where it ran. Of a step of the host at once, of
  /// others when the run is over.
  using StepTimer = std::function<void(std::size_t step, double ms)>;
  /// All steps; when it returns, nothing of the run is under way. Errors: a kernel's, located at its fused node;
  /// cancellation, which comes at most a few steps late on devices that work on their own. The clock is read only for a
  /// `timer`.
  Status run(const StopToken& stop, const StepTimer& timer = nullptr);
  /// What is bound to an input, as a tensor of its own.
  Tensor copyOfInput(std::size_t i) const { return copyOf(m_program->inputs[i]); }
  /// After a run: the same of an output, at the type it is made in.
  Tensor copyOfOutput(std::size_t i) const { return copyOf(m_program->outputs[i].buffer); }
  /// After a run: the tensors of the outputs that are not written in place, at the types they are handed out at.
  void takeBoxed(std::span<Tensor> outputs);
  /// The same of one output that is boxed.
  Tensor boxedOutput(std::size_t i) const;
  /// After a run: where the bytes of an output are that is not boxed.
  const std::byte* outputBytes(std::size_t i) const { return address(m_program->outputs[i].buffer); }

 private:
  /// A place in the tables of operands that points into an input or output.
  struct Use {
    std::size_t step = 0, operand = 0;
    bool isInput = true;  ///< of the step
  };
  using Uses = std::vector<std::vector<Use>>;

  /// The work of this caller on one device.
  struct Lane {
    std::unique_ptr<Stream> stream;
    std::array<std::unique_ptr<Event>, 2> marks;  ///< behind the last batches of steps
    std::size_t enqueued = 0;
  };
  /// Around a step.
  struct Interval {
    std::unique_ptr<Event> begin, end;
  };

  /// Runs once more where a kernel may have lost what is not a number, unless it only takes times.
  std::optional<StepFailure> runChecked(const StopToken& stop, const StepTimer& timer);
  std::optional<StepFailure> runSteps(const StopToken& stop, const StepTimer& timer);
  Status runTimed(std::size_t step, const StopToken& stop, const StepTimer& timer);
  Status runStep(std::size_t step, const StopToken& stop);
  void waitFor(const Step& step, Lane& lane);
  void endStep(std::size_t step, Lane& lane);
  std::optional<StepFailure> synchronise(std::optional<StepFailure> failure);
  Diagnostic located(StepFailure failure) const;
  Interval& intervalOf(std::size_t step);
  std::byte* address(std::size_t buffer) const;
  void addUses(std::size_t step, const std::vector<std::size_t>& buffers, bool isInput);
  void pointAtArena(std::size_t step);
  bool findArenas();
  void point(const std::vector<Use>& uses, std::byte* bytes);
  Tensor operand(std::size_t buffer) const;
  Tensor copyOf(std::size_t buffer) const;
  Status runDynamic(const Step& step, const StopToken& stop);
  Status store(std::size_t buffer, Tensor tensor, std::span<const Tensor> operands);

  const Kernel* kernelOf(std::size_t step) const;

  std::shared_ptr<const Program> m_program;
  std::shared_ptr<const StepKernels> m_kernels;  ///< that run in place of the steps' own; may be null
  std::shared_ptr<ArenaMemory> m_memory;
  std::vector<std::byte*> m_arenas;               ///< in m_memory, as Program::arenas
  std::vector<Lane> m_lanes;                      ///< the same
  std::vector<std::unique_ptr<Event>> m_awaited;  ///< by step: behind those that another stream waits for
  std::vector<Interval> m_intervals;              ///< by step, made when it is first timed; the host's share the last
  std::vector<std::byte*> m_inputs, m_outputs;
  Uses m_inputUses, m_outputUses;
  bool m_checksEachStep = false;  ///< for NaN, as something invalid was met before (number_checks.h)
  std::vector<Tensor> m_boxes;
  std::vector<std::vector<const std::byte*>> m_stepInputs;
  std::vector<std::vector<std::byte*>> m_stepOutputs;
};

}  // namespace fusescope
