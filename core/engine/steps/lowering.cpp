#include "engine/steps/lowering.h"

#include <algorithm>

#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/plan_backend.h"
#include "engine/kernels/workspace.h"
#include "engine/program/boxed_values.h"
#include "engine/program/joins.h"
#include "engine/steps/body_lowering.h"
#include "engine/steps/dynamic_step.h"
#include "engine/steps/plan_tactics.h"
#include "engine/steps/value_forms.h"

namespace fusescope {
namespace {

constexpr std::size_t kNone = ValueForms::kNone;

class Lowering {
 public:
  Lowering(const LoweringRequest& request, TacticChooser& chooser)
      : m_request(request), m_plan(*request.plan), m_graph(request.plan->graph()), m_chooser(chooser) {}
  Result<Program> run();

 private:
  Status resolveTypes();
  void listOutputs();
  void addInputs();
  void addConstantOutputs();
  Status addFusedNode(const FusedNode& fused);
  Status addDynamicNode(const FusedNode& fused, const std::string& why);
  Status addBodyNode(const FusedNode& fused);
  Status addView(const FusedNode& fused, const ByteView& view);
  Status planTactics();
  Result<ChosenTactic> tacticOf(const FusedNode& fused);
  Status finishOutputs();

  bool isBoxed(ValueId value) const { return fusescope::isBoxed(m_graph, m_requests->types(), value); }

  const LoweringRequest& m_request;
  const Plan& m_plan;
  const Graph& m_graph;
  TacticChooser& m_chooser;
  std::optional<KernelRequests> m_requests;
  std::map<FusedNodeId, PlannedTactic> m_planned;
  std::map<FusedNodeId, const Step*> m_sharedSteps;
  std::map<FusedNodeId, std::shared_ptr<const Tactic>> m_sharedJoins;  ///< of nodes without a step
  Program m_program;
  ValueForms m_values{m_request, m_chooser, m_program};
};

Status Lowering::resolveTypes() {
  m_requests = TRY(KernelRequests::create(m_plan, m_request.extents, m_request.threads));
  if (m_request.sameExtents != nullptr)
    for (const Step& step : m_request.sameExtents->steps)
      if (step.fused.valid()) m_sharedSteps[step.fused] = &step;
  if (m_request.sameExtents != nullptr)
    for (const Join& join : m_request.sameExtents->joins) m_sharedJoins[join.fused] = join.tactic;
  return Done{};
}

void Lowering::listOutputs() {
  const auto add = [&](ValueId value, DataType type, bool isMark) {
    const bool known = std::ranges::any_of(m_program.outputs, [&](const ProgramOutput& output) {
      return output.value == value && output.isMark == isMark;
    });
    if (!known) m_program.outputs.push_back({value, type, kNone, isMark});
  };
  for (const ValueId output : m_graph.outputs()) add(output, m_graph.value(output).type.dtype, false);
  for (const ValueId mark : m_request.marks) add(mark, m_plan.storedType(mark), true);
}

void Lowering::addInputs() {
  for (std::size_t i = 0; i < m_graph.inputs().size(); ++i) {
    const ValueId input = m_graph.inputs()[i];
    if (isBoxed(input)) {
      m_program.inputs.push_back(m_values.addBox(input, m_graph.value(input).type.dtype));
      continue;
    }
    const TensorType& type = m_requests->types()[input.index];
    const std::size_t buffer =
        m_values.addBuffer(input, {m_graph.value(input).type.dtype, type.shape.fixed().value_or(Dims{})});
    m_program.buffers[buffer].place = Place::Input;
    m_program.buffers[buffer].index = i;
    m_program.inputs.push_back(buffer);
  }
}

void Lowering::addConstantOutputs() {
  for (const ProgramOutput& output : m_program.outputs) {
    const auto& constant = m_graph.value(output.value).constant;
    if (!constant || m_values.home(output.value)) continue;
    const std::size_t buffer = m_values.addBuffer(output.value, {constant->type(), constant->dims()});
    m_program.buffers[buffer].place = Place::Constant;
    m_program.buffers[buffer].index = m_program.constants.size();
    m_program.constants.push_back(constant->aligned());
  }
}

/// Adds a view of a part of a value. The part is copied only if it is an output, by finishOutputs().
Status Lowering::addView(const FusedNode& fused, const ByteView& view) {
  const FusedOutput& output = fused.outputs.front();
  const std::size_t from =
      TRY(m_values.form(view.source, output.type, MemoryFormat(), m_values.homeDevice(view.source)));
  const Dims dims = TRY(m_requests->dimsOf(output.value));
  if (!view.isPart && elementCount(dims) != elementCount(m_program.buffers[from].desc.dims))
    return Diagnostic{.message = "cannot see " + toText(m_program.buffers[from].desc.dims) + " as " + toText(dims),
                      .where = {.node = fused.name}};
  const std::size_t device = m_program.buffers[from].device;
  const std::size_t to = m_values.addBuffer(output.value, {output.type, dims}, device);
  if (device == kHost && m_values.isReturned(output.value) && !m_request.borrowsOutputs && !view.isPart) {
    m_values.claimOutputs(to);
    return m_values.addConversion(from, to, &fused);
  }
  Buffer& buffer = m_program.buffers[to];
  buffer.within = from;
  buffer.shift = byteSize(output.type, view.begin);
  buffer.place = m_program.buffers[from].place;
  buffer.index = m_program.buffers[from].index;
  m_program.views.push_back({fused.id, m_program.steps.size(), view.isPart ? std::optional(to) : std::nullopt});
  return Done{};
}

/// Chooses formats and tactics for the whole program. If a program for the same extents exists, its choices are used.
Status Lowering::planTactics() {
  if (m_request.sameExtents != nullptr) return Done{};
  TacticPlanRequest request{
      .plan = &m_plan, .requests = &*m_requests, .stop = m_request.stop, .progress = m_request.progress};
  for (const ProgramOutput& output : m_program.outputs) request.outputs.push_back({output.value, output.type});
  m_planned = TRY(fusescope::planTactics(request, m_chooser));
  return Done{};
}

Result<ChosenTactic> Lowering::tacticOf(const FusedNode& fused) {
  if (const auto shared = m_sharedSteps.find(fused.id); shared != m_sharedSteps.end())
    return ChosenTactic{*shared->second->compiledBy, shared->second->kernel};
  if (const auto join = m_sharedJoins.find(fused.id); join != m_sharedJoins.end()) {
    const Backend& backend = backendOf(m_plan, fused);
    auto kernel = TRY(m_chooser.kernels().kernel(backend, TRY(m_requests->of(fused)), *join->second));
    return ChosenTactic{*join->second, std::move(kernel)};
  }
  const PlannedTactic& planned = m_planned.at(fused.id);
  return m_chooser.take(backendOf(m_plan, fused), planned.request, planned.ways, planned.way);
}

Status Lowering::addFusedNode(const FusedNode& fused) {
  TRY(checkStop(m_request.stop));
  if (hasPlannedBodies(m_plan, fused)) return addBodyNode(fused);
  if (const auto why = whyDynamic(m_graph, m_requests->types(), fused)) return addDynamicNode(fused, *why);
  if (const auto view = m_requests->view(fused)) return addView(fused, *view);
  ChosenTactic chosen = TRY(tacticOf(fused));
  const std::size_t device = m_values.deviceOf(backendOf(m_plan, fused));
  Step step{.name = fused.name,
            .fused = fused.id,
            .tactic = chosen.tactic.name,
            .emulated = chosen.tactic.numerics.emulated,
            .device = device};
  step.kernel = std::move(chosen.kernel);
  step.compiledBy = std::make_shared<const Tactic>(chosen.tactic);
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    step.inputs.push_back(TRY(m_values.form(fused.inputs[i], m_requests->wantedType(fused, fused.inputs[i]),
                                            chosen.tactic.inputs[i], device)));
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const FusedOutput& output = fused.outputs[i];
    const Dims dims = TRY(m_requests->dimsOf(output.value));
    step.outputs.push_back(m_values.addBuffer(output.value, {output.type, dims, chosen.tactic.outputs[i]}, device));
    m_values.claimOutputs(step.outputs.back());
  }
  m_program.steps.push_back(std::move(step));
  return Done{};
}

Status Lowering::addDynamicNode(const FusedNode& fused, const std::string& why) {
  m_chooser.noteDynamic(fused, why);
  Step step{.name = fused.name,
            .fused = fused.id,
            .tactic = std::string(kDynamicTactic),
            .emulated = isEmulated(m_plan, fused)};
  std::vector<DataType> types;
  for (const ValueId input : fused.inputs) {
    types.push_back(m_requests->wantedType(fused, input));
    const auto home = m_values.home(input);
    const bool boxed = home && m_program.buffers[*home].place == Place::Boxed;
    step.inputs.push_back(boxed ? *home : TRY(m_values.form(input, types.back(), MemoryFormat())));
  }
  if (const auto shared = m_sharedSteps.find(fused.id); shared != m_sharedSteps.end()) {
    step.dynamic = shared->second->dynamic;
  } else {
    KernelRequest request{.plan = &m_plan, .fused = &fused, .threads = m_request.threads};
    TRY(m_requests->addConstants(request));
    step.dynamic = TRY(DynamicStep::prepare(backendOf(m_plan, fused), std::move(request), std::move(types),
                                            m_chooser.kernels(), *m_request.dynamicKernels));
  }
  for (const FusedOutput& output : fused.outputs) {
    if (isBoxed(output.value)) {
      step.outputs.push_back(m_values.addBox(output.value, output.type));
    } else {
      step.outputs.push_back(m_values.addBuffer(output.value, {output.type, TRY(m_requests->dimsOf(output.value))}));
      m_values.claimOutputs(step.outputs.back());
    }
  }
  m_program.steps.push_back(std::move(step));
  return Done{};
}

/// Adds a node with bodies. If all its inputs and outputs have known extents, it runs on bytes of the arena; otherwise
/// it is a dynamic step, whose programs are lowered for the extents that occur.
Status Lowering::addBodyNode(const FusedNode& fused) {
  Step step{.name = fused.name, .fused = fused.id, .tactic = std::string(kBodiesTactic)};
  std::vector<BorderType> inputs, outputs;
  for (const ValueId input : fused.inputs) {
    const auto home = m_values.home(input);
    const bool boxed = home && m_program.buffers[*home].place == Place::Boxed;
    const DataType type = m_requests->wantedType(fused, input);
    step.inputs.push_back(boxed ? *home : TRY(m_values.form(input, type, MemoryFormat())));
    inputs.push_back({type, boxed ? std::nullopt : std::optional(m_program.buffers[step.inputs.back()].desc.dims)});
  }
  bool isDynamic = std::ranges::any_of(inputs, [](const BorderType& input) { return !input.dims; });
  for (const FusedOutput& output : fused.outputs) {
    const bool boxed = isBoxed(output.value);
    outputs.push_back({output.type, boxed ? std::nullopt : std::optional(TRY(m_requests->dimsOf(output.value)))});
    isDynamic = isDynamic || boxed;
  }
  KernelRequest request{.plan = &m_plan, .fused = &fused, .threads = m_request.threads};
  TRY(m_requests->addConstants(request));
  const auto shared = m_sharedSteps.find(fused.id);
  LoweredBodies bodies;
  if (shared != m_sharedSteps.end()) {
    bodies.step = shared->second->body != nullptr ? shared->second->body
                                                  : std::dynamic_pointer_cast<BodyStep>(shared->second->dynamic);
    bodies.emulated = shared->second->emulated;
  }
  if (bodies.step == nullptr) bodies = TRY(lowerBodies(request, inputs, outputs, m_request, &lower, m_chooser));
  step.emulated = bodies.emulated;
  if (isDynamic) {
    step.dynamic = bodies.step;
  } else {
    step.body = bodies.step;
  }
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const FusedOutput& output = fused.outputs[i];
    if (!outputs[i].dims) {
      step.outputs.push_back(m_values.addBox(output.value, output.type));
      continue;
    }
    step.outputs.push_back(m_values.addBuffer(output.value, {output.type, *outputs[i].dims}));
    m_values.claimOutputs(step.outputs.back());
  }
  m_program.steps.push_back(std::move(step));
  return Done{};
}

Status Lowering::finishOutputs() {
  for (std::size_t i = 0; i < m_program.outputs.size(); ++i) {
    ProgramOutput& output = m_program.outputs[i];
    if (output.buffer != kNone) continue;
    const auto home = m_values.home(output.value);
    if (!home)
      return Diagnostic{.message = "no node calculates this output",
                        .where = {.value = m_graph.value(output.value).name}};
    std::size_t from = *home;
    if (m_program.buffers[from].device != kHost) {
      from = TRY(m_values.form(output.value, output.type, MemoryFormat()));
      if (output.buffer != kNone) continue;  // will be copied to the output tensor
    }
    const Buffer& source = m_program.buffers[from];
    const bool asWanted = source.desc.dtype == output.type && source.desc.format.isPlain();
    if (source.place == Place::Boxed || source.desc.dtype == DataType::String ||
        (m_request.borrowsOutputs && asWanted && !m_values.isPart(from))) {
      output.buffer = from;
      continue;
    }
    const std::size_t to = m_values.addBuffer(output.value, {output.type, source.desc.dims});
    m_program.buffers[to].place = Place::Output;
    m_program.buffers[to].index = i;
    output.buffer = to;
    TRY(m_values.addConversion(from, to, nullptr));
  }
  return Done{};
}

Result<Program> Lowering::run() {
  TRY(resolveTypes());
  listOutputs();
  addInputs();
  addConstantOutputs();
  TRY(planTactics());
  for (const FusedNode& fused : m_plan.fusedNodes) TRY(addFusedNode(fused));
  TRY(finishOutputs());
  placeViews(m_program);
  joinInPlace(m_program, m_plan);
  planMemory(m_program);
  planWaits(m_program);
  return std::move(m_program);
}

}  // namespace

Result<Program> lower(const LoweringRequest& request, TacticChooser& chooser) {
  return Lowering(request, chooser).run();
}

}  // namespace fusescope
