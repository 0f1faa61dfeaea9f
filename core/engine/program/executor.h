#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/stop.h"
#include "engine/program/arena_memory.h"
#include "engine/program/program.h"
#include "engine/program/step_kernels.h"

namespace fusescope {

/// The mutable state of one caller of a program: arenas, streams and the address of every operand, so that only dynamic
/// steps allocate memory during a run. Each executor may be used by one caller at a time. Any number of executors may
/// run the same program at the same time; only steps that have a state (bodies, extents that depend on data) take
/// turns.
class Executor {
 public:
  explicit Executor(std::shared_ptr<const Program> program)
      : Executor(std::move(program), std::make_shared<ArenaMemory>()) {}
  /// Shares the memory of arenas with other executors that never run at the same time. After another one was created or
  /// changed, bind() must be called again before this one runs.
  Executor(std::shared_ptr<const Program> program, std::shared_ptr<ArenaMemory> arenas);
  const Program& program() const { return *m_program; }
  /// Must be called after extents, kernels or places of the program were changed, which is allowed only while no other
  /// executor runs it. The memory of arenas never shrinks. bind() must be called again.
  void programChanged();

  /// From the next run on, uses these kernels in place of the steps' own, until the program changes. Null restores the
  /// steps' own kernels.
  void useKernels(std::shared_ptr<const StepKernels> kernels) { m_kernels = std::move(kernels); }

  /// Sets the caller's tensors: `inputs` in the order of Graph::inputs, `outputs` in the order of Program::outputs
  /// (pass empty tensors for the outputs that takeBoxed() returns). They must outlive the last run.
  void bind(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  // These set one operand only, as bytes that need not be in a tensor. They allocate nothing.
  void setInput(std::size_t i, const std::byte* bytes);
  void setBoxedInput(std::size_t i, Tensor tensor);
  void setOutput(std::size_t i, std::byte* bytes);
  /// Called for each step that ran, with its index and its time on its device. It is called directly after a step of
  /// the host, and at the end of the run for steps of other devices.
  using StepTimer = std::function<void(std::size_t step, double ms)>;
  /// Runs all steps; when it returns, no work of the run is pending on any device. Errors: an error of a kernel,
  /// located at its fused node; cancellation, which devices that work asynchronously notice a few steps late. The clock
  /// is read only if there is a `timer`.
  Status run(const StopToken& stop, const StepTimer& timer = nullptr);
  /// Returns a copy of the value that is bound to an input.
  Tensor copyOfInput(std::size_t i) const { return copyOf(m_program->inputs[i]); }
  /// Returns a copy of an output in the type in which it is made. Call it after a run.
  Tensor copyOfOutput(std::size_t i) const { return copyOf(m_program->outputs[i].buffer); }
  /// Returns the tensors of the outputs that are boxed, in the types in which they are handed out. Call it after a run.
  void takeBoxed(std::span<Tensor> outputs);
  /// Returns one boxed output in the same way.
  Tensor boxedOutput(std::size_t i) const;
  /// Returns the bytes of an output that is not boxed. Call it after a run.
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
