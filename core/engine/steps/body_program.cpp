#include "engine/steps/body_program.h"

#include <algorithm>
#include <mutex>

#include "engine/program/shared_count.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

/// Returns the input of the graph whose bytes `buffer` uses; nullopt for other bytes.
std::optional<std::size_t> passedInput(const Program& program, std::size_t buffer) {
  const Buffer& root = program.buffers[program.buffers[buffer].root];
  const bool isWhole = program.buffers[buffer].desc.bytes() == root.desc.bytes();
  if (root.place != Place::Input || !isWhole) return std::nullopt;
  return root.index;
}

}  // namespace

BodyProgram::BodyProgram(const Plan& plan, std::vector<Dims> extents, Program program, BodyProfile* profile,
                         BodyObserver* observer)
    : m_plan(plan),
      m_extents(std::move(extents)),
      m_executor(std::make_shared<const Program>(std::move(program))),
      m_profile(profile),
      m_observer(observer) {
  const Program& own = m_executor.program();
  for (const ValueId value : plan.graph().outputs()) {
    const auto found = std::ranges::find(own.outputs, value, &ProgramOutput::value);
    const Buffer& buffer = own.buffers[found->buffer];
    Output output{.type = found->type, .place = static_cast<std::size_t>(found - own.outputs.begin())};
    output.boxed = buffer.place == Place::Boxed || buffer.desc.dtype == DataType::String;
    // A view of another output has no bytes of its own. The same is true of the second of two outputs that are one
    // value.
    const auto isSame = [&](const Output& other) { return other.place == output.place; };
    const bool isOwn = buffer.place == Place::Output && buffer.root == found->buffer && buffer.index == output.place;
    output.direct = isOwn && std::ranges::none_of(m_outputs, isSame);
    if (!output.boxed) {
      output.dims = buffer.desc.dims;
      output.bytes = buffer.desc.bytes();
      output.input = passedInput(own, found->buffer);
    }
    m_outputs.push_back(std::move(output));
  }
  placeMarks();
}

/// Gives marked values bytes of their own.
void BodyProgram::placeMarks() {
  const Program& own = program();
  for (std::size_t i = 0; i < own.outputs.size(); ++i) {
    const Buffer& buffer = own.buffers[own.outputs[i].buffer];
    if (!own.outputs[i].isMark || buffer.place != Place::Output || buffer.index != i) continue;
    m_marked.emplace_back(std::max<std::size_t>(buffer.desc.bytes(), 1));
    m_executor.setOutput(i, m_marked.back().data());
  }
}

bool BodyProgram::isBoxedInput(std::size_t i) const {
  return program().buffers[program().inputs[i]].place == Place::Boxed;
}

void BodyProgram::setInput(std::size_t i, const BorderValue& value) {
  if (isBoxedInput(i)) {
    m_executor.setBoxedInput(i, value.box != nullptr ? *value.box : Tensor());
  } else {
    m_executor.setInput(i, value.bytes);
  }
}

std::vector<Tensor> BodyProgram::copiesOfInputs() const {
  std::vector<Tensor> copies;
  for (std::size_t i = 0; i < m_extents.size(); ++i) copies.push_back(m_executor.copyOfInput(i));
  return copies;
}

std::map<ValueId, Tensor> BodyProgram::copiesOfOutputs() const {
  std::map<ValueId, Tensor> copies;
  const auto& outputs = program().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) copies[outputs[i].value] = m_executor.copyOfOutput(i);
  return copies;
}

Status BodyProgram::runObserved(const StopToken& stop) {
  TRY(m_observer->called(m_plan, [this] { return copiesOfInputs(); }));
  TRY(m_executor.run(stop));
  return m_observer->ran(m_plan, [this] { return copiesOfOutputs(); });
}

Status BodyProgram::run(const StopToken& stop) {
  if (m_observer != nullptr) return runObserved(stop);
  if (m_profile == nullptr || !m_profile->isOn()) return m_executor.run(stop);
  m_profile->called(m_plan, program());
  return m_executor.run(stop,
                        [this](std::size_t step, double ms) { m_profile->ran(m_plan, program().steps[step], ms); });
}

void BodyProgram::setOutput(std::size_t i, std::byte* bytes) {
  m_executor.setOutput(m_outputs[i].place, bytes);
}

BodyPrograms::BodyPrograms(const Plan& plan, const LoweringRequest& request, LowerPlan lower, TacticChooser& chooser,
                           BodyPath path)
    : m_plan(plan), m_request(request), m_lower(lower), m_chooser(chooser), m_path(std::move(path)) {
  m_request.plan = &plan;
  m_request.marks = request.bodyObserver != nullptr ? request.bodyObserver->wanted(plan) : std::set<ValueId>();
  m_request.sameExtents = nullptr;
  m_request.borrowsOutputs = true;
  m_request.progress = {};
}

Diagnostic BodyPrograms::located(Diagnostic error) const {
  if (error.cancelled) return error;
  error.where.node = error.where.node.empty() ? m_path.steps().front().holder : m_path.of(error.where.node);
  return error;
}

Result<BodyProgram*> BodyPrograms::at(const std::vector<Dims>& extents, const StopToken& stop) {
  const auto found =
      std::ranges::find_if(m_programs, [&](const auto& program) { return program->extents() == extents; });
  if (found != m_programs.end()) {
    countBesideOthers(m_request.dynamicKernels->hits);
    m_programs.splice(m_programs.begin(), m_programs, found);
    return m_programs.front().get();
  }
  countBesideOthers(m_request.dynamicKernels->misses);
  const Graph& body = graph();
  m_request.extents.clear();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Value& input = body.value(body.inputs()[i]);
    if (input.type.container == Container::None && input.type.dtype != DataType::String)
      m_request.extents[input.name] = extents[i];
  }
  m_request.stop = stop;
  const std::lock_guard lock(m_chooser.loweringMutex());
  auto program = m_lower(m_request, m_chooser);
  if (!program.ok()) return located(std::move(program).error());
  ++m_lowered;
  m_programs.push_front(std::make_unique<BodyProgram>(m_plan, extents, std::move(program).value(),
                                                      m_request.bodyProfile, m_request.bodyObserver));
  if (m_programs.size() > static_cast<std::size_t>(m_request.dynamicKernels->size)) m_programs.pop_back();
  return m_programs.front().get();
}

std::byte* BodyPrograms::unread(std::size_t bytes) {
  return m_unread.atLeast(bytes);
}

void BodyPrograms::addWeights(PackedSet& weights) const {
  for (const auto& program : m_programs)
    for (const Step& step : program->program().steps) fusescope::addWeights(step, weights);
}

}  // namespace fusescope
