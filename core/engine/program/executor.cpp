#include "engine/program/executor.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>

#include "backends/number_checks.h"
#include "backends/reference/convert_elements.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::size_t kBatch = 4;  // the number of steps in a batch

bool liesWithin(const Tensor& tensor, const Tensor& other) {
  const std::less_equal<const std::byte*> notAfter;
  return other.bytes() != nullptr && tensor.bytes() != nullptr && notAfter(other.bytes(), tensor.bytes()) &&
         notAfter(tensor.bytes() + 1, other.bytes() + other.byteSize());
}

/// Returns a tensor that remains valid after `operands`: kernels may return their operands, and the arena is
/// overwritten later.
Tensor detached(const Tensor& tensor, std::span<const Tensor> operands) {
  if (tensor.container() != Container::None) {
    std::vector<Tensor> elements;
    for (const Tensor& element : tensor.elements()) elements.push_back(detached(element, operands));
    return Tensor::ofElements(tensor.container(), tensor.type(), std::move(elements));
  }
  const bool shares = std::ranges::any_of(operands, [&](const Tensor& other) { return liesWithin(tensor, other); });
  if (!shares) return tensor;
  Tensor copy = Tensor::zeros(tensor.type(), tensor.dims());
  std::memcpy(copy.mutableBytes(), tensor.bytes(), tensor.byteSize());
  return copy;
}

}  // namespace

Executor::Executor(std::shared_ptr<const Program> program, std::shared_ptr<ArenaMemory> arenas)
    : m_program(std::move(program)), m_memory(std::move(arenas)), m_arenas(m_program->arenas.size()) {
  m_memory->fit(*m_program);
  findArenas();
  for (const Arena& arena : m_program->arenas)
    m_lanes.push_back({arena.device->makeStream(), {arena.device->makeEvent(), arena.device->makeEvent()}});
  m_awaited.resize(m_program->steps.size());
  m_inputs.resize(m_program->inputs.size());
  m_outputs.resize(m_program->outputs.size());
  m_boxes.resize(m_program->boxCount);
  m_inputUses.resize(m_inputs.size());
  m_outputUses.resize(m_program->outputs.size());
  for (std::size_t i = 0; i < m_program->steps.size(); ++i) {
    const Step& step = m_program->steps[i];
    m_stepInputs.emplace_back(step.inputs.size());
    m_stepOutputs.emplace_back(step.outputs.size());
    addUses(i, step.inputs, true);
    addUses(i, step.outputs, false);
    if (step.isAwaited) m_awaited[i] = m_program->arenas[step.device].device->makeEvent();
  }
}

void Executor::programChanged() {
  m_kernels = nullptr;
  m_memory->fit(*m_program);
  findArenas();
  for (std::size_t i = 0; i < m_program->steps.size(); ++i) pointAtArena(i);
}

/// Finds the present addresses of the arenas. Returns whether one of them has changed.
bool Executor::findArenas() {
  bool moved = false;
  for (std::size_t i = 0; i < m_arenas.size(); ++i) {
    std::byte* const now = m_memory->at(*m_program->arenas[i].device);
    moved = moved || now != m_arenas[i];
    m_arenas[i] = now;
  }
  return moved;
}

void Executor::pointAtArena(std::size_t step) {
  const auto isInArena = [&](std::size_t id) {
    return m_program->buffers[m_program->buffers[id].root].place == Place::Arena;
  };
  const Step& called = m_program->steps[step];
  for (std::size_t k = 0; k < called.inputs.size(); ++k)
    if (isInArena(called.inputs[k])) m_stepInputs[step][k] = address(called.inputs[k]);
  for (std::size_t k = 0; k < called.outputs.size(); ++k)
    if (isInArena(called.outputs[k])) m_stepOutputs[step][k] = address(called.outputs[k]);
}

/// Records the uses of inputs and outputs, whose addresses change from run to run. Pointers to all other buffers are
/// set here and stay valid until the program changes.
void Executor::addUses(std::size_t step, const std::vector<std::size_t>& buffers, bool isInput) {
  for (std::size_t k = 0; k < buffers.size(); ++k) {
    const Buffer& root = m_program->buffers[m_program->buffers[buffers[k]].root];
    if (root.place == Place::Input) {
      m_inputUses[root.index].push_back({step, k, isInput});
    } else if (root.place == Place::Output) {
      m_outputUses[root.index].push_back({step, k, isInput});
    } else if (isInput) {
      m_stepInputs[step][k] = address(buffers[k]);
    } else {
      m_stepOutputs[step][k] = address(buffers[k]);
    }
  }
}

void Executor::point(const std::vector<Use>& uses, std::byte* bytes) {
  for (const Use& use : uses) {
    const Step& step = m_program->steps[use.step];
    if (use.isInput) {
      m_stepInputs[use.step][use.operand] = bytes + m_program->buffers[step.inputs[use.operand]].begin;
    } else {
      m_stepOutputs[use.step][use.operand] = bytes + m_program->buffers[step.outputs[use.operand]].begin;
    }
  }
}

std::byte* Executor::address(std::size_t id) const {
  const Buffer& buffer = m_program->buffers[m_program->buffers[id].root];
  const std::size_t begin = m_program->buffers[id].begin;
  switch (buffer.place) {
    case Place::Arena:
      return m_arenas[buffer.device] + buffer.offset + begin;
    case Place::Input:
      return m_inputs[buffer.index] + begin;
    case Place::Output:
      return m_outputs[buffer.index] + begin;
    // A constant is only the source of conversions, so that no step writes to it.
    case Place::Constant:
      return const_cast<std::byte*>(m_program->constants[buffer.index].bytes()) + begin;
    case Place::Boxed:
      break;
  }
  return nullptr;
}

void Executor::bind(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  if (findArenas())
    for (std::size_t i = 0; i < m_program->steps.size(); ++i) pointAtArena(i);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (m_program->buffers[m_program->inputs[i]].place == Place::Boxed) {
      setBoxedInput(i, inputs[i]);
    } else {
      setInput(i, inputs[i].bytes());
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) setOutput(i, outputs[i].mutableBytes());
}

void Executor::setInput(std::size_t i, const std::byte* bytes) {
  m_inputs[i] = const_cast<std::byte*>(bytes);
  point(m_inputUses[i], m_inputs[i]);
}

void Executor::setBoxedInput(std::size_t i, Tensor tensor) {
  m_boxes[m_program->buffers[m_program->inputs[i]].index] = std::move(tensor);
}

void Executor::setOutput(std::size_t i, std::byte* bytes) {
  m_outputs[i] = bytes;
  point(m_outputUses[i], bytes);
}

Tensor Executor::operand(std::size_t id) const {
  const Buffer& buffer = m_program->buffers[id];
  if (buffer.place == Place::Boxed) return m_boxes[buffer.index];
  if (buffer.desc.dtype == DataType::String) return m_program->constants[buffer.index];
  return Tensor::view(buffer.desc.dtype, buffer.desc.dims, nullptr, address(id));
}

Status Executor::store(std::size_t id, Tensor tensor, std::span<const Tensor> operands) {
  const Buffer& buffer = m_program->buffers[id];
  if (buffer.place == Place::Boxed) {
    m_boxes[buffer.index] = detached(tensor, operands);
    return Done{};
  }
  if (tensor.dims() != buffer.desc.dims || tensor.type() != buffer.desc.dtype)
    return Diagnostic{.message = "gave " + typeOf(tensor).text() + " where " + std::string(name(buffer.desc.dtype)) +
                                 toText(buffer.desc.dims) + " was inferred"};
  if (tensor.byteSize() > 0) std::memcpy(address(id), tensor.bytes(), tensor.byteSize());
  return Done{};
}

/// The data may require more memory than is available; this is an error of the step.
Status Executor::runDynamic(const Step& step, const StopToken& stop) try {
  std::vector<Tensor> operands, views;
  for (const std::size_t input : step.inputs) {
    operands.push_back(operand(input));
    if (m_program->buffers[input].place != Place::Boxed) views.push_back(operands.back());
  }
  std::vector<Tensor> results = TRY(step.dynamic->run(operands, stop));
  for (std::size_t i = 0; i < step.outputs.size(); ++i) TRY(store(step.outputs[i], std::move(results[i]), views));
  for (const std::size_t box : step.lastBoxes) m_boxes[box] = Tensor();
  return Done{};
} catch (const std::bad_alloc&) {
  return Diagnostic{.message = "there is not enough memory for its results at the extents that the data require"};
}

void Executor::takeBoxed(std::span<Tensor> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ProgramOutput& wanted = m_program->outputs[i];
    const Place place = m_program->buffers[wanted.buffer].place;
    if (place == Place::Boxed || place == Place::Constant) outputs[i] = boxedOutput(i);
  }
}

Tensor Executor::copyOf(std::size_t buffer) const {
  const Tensor bound = operand(buffer);
  return detached(bound, std::span(&bound, 1));
}

Tensor Executor::boxedOutput(std::size_t i) const {
  return convertedTensor(operand(m_program->outputs[i].buffer), m_program->outputs[i].type);
}

const Kernel* Executor::kernelOf(std::size_t step) const {
  const Kernel* other = m_kernels != nullptr ? (*m_kernels)[step].get() : nullptr;
  return other != nullptr ? other : m_program->steps[step].kernel.get();
}

Status Executor::runStep(std::size_t i, const StopToken& stop) {
  const Step& step = m_program->steps[i];
  if (step.dynamic != nullptr) return runDynamic(step, stop);
  if (step.body != nullptr) return step.body->run(m_stepInputs[i], m_stepOutputs[i], stop);
  Stream& stream = *m_lanes[step.device].stream;
  if (const Kernel* kernel = kernelOf(i))
    return kernel->run(stream, m_stepInputs[i], m_stepOutputs[i], m_arenas[step.device] + step.scratchOffset);
  const std::size_t bytes = m_program->buffers[step.inputs[0]].desc.bytes();
  stream.copy(*step.copy, m_stepInputs[i][0], m_stepOutputs[i][0], bytes);
  return Done{};
}

Executor::Interval& Executor::intervalOf(std::size_t i) {
  const std::size_t device = m_program->steps[i].device;
  m_intervals.resize(m_program->steps.size() + 1);
  Interval& interval = device == kHost ? m_intervals.back() : m_intervals[i];
  if (interval.begin == nullptr) {
    interval.begin = m_program->arenas[device].device->makeEvent();
    interval.end = m_program->arenas[device].device->makeEvent();
  }
  return interval;
}

Status Executor::runTimed(std::size_t i, const StopToken& stop, const StepTimer& timer) {
  const std::size_t device = m_program->steps[i].device;
  Interval& interval = intervalOf(i);
  m_lanes[device].stream->record(*interval.begin);
  TRY(runStep(i, stop));
  m_lanes[device].stream->record(*interval.end);
  if (device == kHost) timer(i, interval.end->msSince(*interval.begin));
  return Done{};
}

void Executor::waitFor(const Step& step, Lane& lane) {
  for (const std::size_t other : step.waits) lane.stream->wait(*m_awaited[other]);
}

/// A device may be at most three batches of steps behind, so that a request to stop need not wait for all enqueued
/// steps.
void Executor::endStep(std::size_t i, Lane& lane) {
  if (m_awaited[i] != nullptr) lane.stream->record(*m_awaited[i]);
  if (++lane.enqueued % kBatch != 0) return;
  Event& mark = *lane.marks[lane.enqueued / kBatch % lane.marks.size()];
  mark.synchronise();
  lane.stream->record(mark);
}

std::optional<StepFailure> Executor::runSteps(const StopToken& stop, const StepTimer& timer) {
  for (std::size_t i = 0; i < m_program->steps.size(); ++i) {
    const Step& step = m_program->steps[i];
    Lane& lane = m_lanes[step.device];
    Status status = checkStop(stop);
    if (status.ok()) {
      if (!step.waits.empty()) waitFor(step, lane);
      lane.stream->beginStep(i);
      status = timer ? runTimed(i, stop, timer) : runStep(i, stop);
    }
    if (!status.ok()) return StepFailure{i, std::move(status).error()};
    if (step.device != kHost) endStep(i, lane);
  }
  return std::nullopt;
}

/// Returns the first failure of the steps. It is the cause of the others, because later steps read values that were
/// never written.
std::optional<StepFailure> Executor::synchronise(std::optional<StepFailure> failure) {
  for (std::size_t device = kHost + 1; device < m_lanes.size(); ++device) {
    auto own = m_lanes[device].stream->synchronise();
    const bool isCause = own && (!failure || (!failure->error.cancelled && own->step < failure->step));
    if (!isCause) continue;
    failure = std::move(own);
    const Kernel* kernel = m_program->steps[failure->step].kernel.get();
    if (kernel != nullptr) failure->error = kernel->own(std::move(failure->error));
  }
  return failure;
}

Diagnostic Executor::located(StepFailure failure) const {
  const Step& step = m_program->steps[failure.step];
  Diagnostic error = std::move(failure.error);
  if (error.cancelled) return error;
  if (error.where.node.empty()) error.where.node = step.name;
  return error;
}

std::optional<StepFailure> Executor::runChecked(const StopToken& stop, const StepTimer& timer) {
  constexpr int kNotes = 2;  // the first note may be about work before this run
  for (int notes = 0; !m_checksEachStep;) {
    UncheckedNumbers unchecked;
    auto failure = synchronise(runSteps(stop, timer));
    if (failure || timer || !unchecked.takeSuspicion()) return failure;
    m_checksEachStep = ++notes == kNotes;
  }
  return synchronise(runSteps(stop, timer));
}

Status Executor::run(const StopToken& stop, const StepTimer& timer) {
  if (auto failure = runChecked(stop, timer)) return located(std::move(*failure));
  if (!timer) return Done{};
  for (std::size_t i = 0; i < m_program->steps.size(); ++i)
    if (m_program->steps[i].device != kHost) timer(i, m_intervals[i].end->msSince(*m_intervals[i].begin));
  return Done{};
}

}  // namespace fusescope
