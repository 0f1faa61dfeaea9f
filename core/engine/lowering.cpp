#include "engine/lowering.h"

#include <algorithm>

#include "engine/body_lowering.h"
#include "engine/boxed_values.h"
#include "engine/dynamic_step.h"
#include "engine/joins.h"
#include "engine/kernel_requests.h"
#include "engine/plan_tactics.h"
#include "engine/workspace.h"

namespace fusescope {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

std::string formText(const TensorDesc& desc) {
  std::string text(name(desc.dtype));
  if (!desc.format.isPlain()) text += " " + desc.format.text();
  return text;
}

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
  std::size_t addBuffer(ValueId value, TensorDesc desc);
  std::size_t addBox(ValueId value, DataType type);
  void claimOutputs(std::size_t buffer);
  /// The buffer that holds `value` in this form, converting it from its home form if there is none yet.
  Result<std::size_t> form(ValueId value, DataType type, const MemoryFormat& format);
  std::size_t findForm(ValueId value, DataType type, std::optional<MemoryFormat> format) const;
  Status addConversion(std::size_t from, std::size_t to, const FusedNode* fused);
  bool isHandedOut(ValueId value) const;
  /// Whether other bytes than its own lie around it.
  bool isPart(std::size_t buffer) const;

  const LoweringRequest& m_request;
  const Plan& m_plan;
  const Graph& m_graph;
  TacticChooser& m_chooser;
  std::optional<KernelRequests> m_requests;
  std::map<ValueId, std::vector<std::size_t>> m_forms;  ///< the first is the home form
  std::map<FusedNodeId, PlannedTactic> m_planned;
  std::map<FusedNodeId, const Step*> m_sharedSteps;
  std::map<FusedNodeId, std::shared_ptr<const Tactic>> m_sharedJoins;  ///< fused nodes that have no step there
  Program m_program;
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

bool Lowering::isHandedOut(ValueId value) const {
  return std::ranges::any_of(m_program.outputs, [&](const ProgramOutput& output) { return output.value == value; });
}

bool Lowering::isPart(std::size_t buffer) const {
  const auto at = [&](std::size_t id) -> const Buffer& { return m_program.buffers[id]; };
  const std::size_t bytes = at(buffer).desc.bytes();
  while (at(buffer).within != buffer) buffer = at(buffer).within;
  return at(buffer).desc.bytes() != bytes;
}

std::size_t Lowering::addBuffer(ValueId value, TensorDesc desc) {
  const std::size_t id = m_program.buffers.size();
  m_program.buffers.push_back({.value = value, .desc = std::move(desc), .within = id});
  m_forms[value].push_back(id);
  return id;
}

std::size_t Lowering::addBox(ValueId value, DataType type) {
  const std::size_t buffer = addBuffer(value, {type, {}});
  m_program.buffers[buffer].place = Place::Boxed;
  m_program.buffers[buffer].index = m_program.boxCount++;
  return buffer;
}

void Lowering::addInputs() {
  for (std::size_t i = 0; i < m_graph.inputs().size(); ++i) {
    const ValueId input = m_graph.inputs()[i];
    if (isBoxed(input)) {
      m_program.inputs.push_back(addBox(input, m_graph.value(input).type.dtype));
      continue;
    }
    const TensorType& type = m_requests->types()[input.index];
    const std::size_t buffer = addBuffer(input, {m_graph.value(input).type.dtype, type.shape.fixed().value_or(Dims{})});
    m_program.buffers[buffer].place = Place::Input;
    m_program.buffers[buffer].index = i;
    m_program.inputs.push_back(buffer);
  }
}

void Lowering::addConstantOutputs() {
  for (const ProgramOutput& output : m_program.outputs) {
    const auto& constant = m_graph.value(output.value).constant;
    if (!constant || m_forms.contains(output.value)) continue;
    const std::size_t buffer = addBuffer(output.value, {constant->type(), constant->dims()});
    m_program.buffers[buffer].place = Place::Constant;
    m_program.buffers[buffer].index = m_program.constants.size();
    m_program.constants.push_back(*constant);
  }
}

std::size_t Lowering::findForm(ValueId value, DataType type, std::optional<MemoryFormat> format) const {
  const auto forms = m_forms.find(value);
  if (forms == m_forms.end()) return kNone;
  for (const std::size_t id : forms->second) {
    const TensorDesc& desc = m_program.buffers[id].desc;
    if (desc.dtype == type && (!format || desc.format == *format)) return id;
  }
  return kNone;
}

/// Lets a buffer that is just what an output wants be written straight into the caller's tensor.
void Lowering::claimOutputs(std::size_t id) {
  Buffer& buffer = m_program.buffers[id];
  if (buffer.place != Place::Arena || !buffer.desc.format.isPlain()) return;
  for (std::size_t i = 0; i < m_program.outputs.size(); ++i) {
    ProgramOutput& output = m_program.outputs[i];
    if (output.value != buffer.value || output.type != buffer.desc.dtype || output.buffer != kNone) continue;
    output.buffer = id;
    buffer.place = Place::Output;
    buffer.index = i;
    return;
  }
}

Status Lowering::addConversion(std::size_t from, std::size_t to, const FusedNode* fused) {
  const TensorDesc& source = m_program.buffers[from].desc;
  const TensorDesc& target = m_program.buffers[to].desc;
  Step step{.inputs = {from}, .outputs = {to}};
  const std::string& value = m_graph.value(m_program.buffers[to].value).name;
  step.name = fused != nullptr ? fused->name : value + ": " + formText(source) + " to " + formText(target);
  step.tactic = fused != nullptr ? "copy" : "convert";
  if (fused != nullptr) step.fused = fused->id;
  const Backend& backend = *m_request.accelerated;
  step.kernel = TRY(m_chooser.kernels().conversion(backend, source, target, m_request.threads));
  step.emulated = backend.emulatesConversion(source, target);
  const auto needed = static_cast<std::int64_t>(step.kernel->workspaceBytes());
  const std::int64_t limit = m_plan.options.workspaceBytes;
  if (limit > 0 && needed > limit) return tooLittleWorkspace(step.name, needed, limit);
  m_chooser.noteConversion(backend, source, target);
  m_program.steps.push_back(std::move(step));
  return Done{};
}

Result<std::size_t> Lowering::form(ValueId value, DataType type, const MemoryFormat& format) {
  if (const std::size_t known = findForm(value, type, format); known != kNone) return known;
  const auto home = m_forms.find(value);
  if (home == m_forms.end())
    return Diagnostic{.message = "is read before anything makes it", .where = {.value = m_graph.value(value).name}};
  const std::size_t from = home->second.front();
  const std::size_t id = addBuffer(value, {type, m_program.buffers[from].desc.dims, format});
  claimOutputs(id);
  TRY(addConversion(from, id, nullptr));
  return id;
}

/// A part of a value is copied only where it is handed out, by finishOutputs().
Status Lowering::addView(const FusedNode& fused, const ByteView& view) {
  const FusedOutput& output = fused.outputs.front();
  const std::size_t from = TRY(form(view.source, output.type, MemoryFormat()));
  const Dims dims = TRY(m_requests->dimsOf(output.value));
  if (!view.isPart && elementCount(dims) != elementCount(m_program.buffers[from].desc.dims))
    return Diagnostic{.message = "cannot see " + toText(m_program.buffers[from].desc.dims) + " as " + toText(dims),
                      .where = {.node = fused.name}};
  const std::size_t to = addBuffer(output.value, {output.type, dims});
  if (isHandedOut(output.value) && !m_request.borrowsOutputs && !view.isPart) {
    claimOutputs(to);
    return addConversion(from, to, &fused);
  }
  Buffer& buffer = m_program.buffers[to];
  buffer.within = from;
  buffer.shift = byteSize(output.type, view.begin);
  buffer.place = m_program.buffers[from].place;
  buffer.index = m_program.buffers[from].index;
  m_program.views.push_back({fused.id, m_program.steps.size(), view.isPart ? std::optional(to) : std::nullopt});
  return Done{};
}

/// Formats and tactics of the whole program. A program for the same extents has them already.
Status Lowering::planTactics() {
  if (m_request.sameExtents != nullptr) return Done{};
  TacticPlanRequest request{.plan = &m_plan,
                            .requests = &*m_requests,
                            .accelerated = m_request.accelerated,
                            .stop = m_request.stop,
                            .progress = m_request.progress};
  for (const ProgramOutput& output : m_program.outputs) request.outputs.push_back({output.value, output.type});
  m_planned = TRY(fusescope::planTactics(request, m_chooser));
  return Done{};
}

Result<ChosenTactic> Lowering::tacticOf(const FusedNode& fused) {
  if (const auto shared = m_sharedSteps.find(fused.id); shared != m_sharedSteps.end())
    return ChosenTactic{*shared->second->compiledBy, shared->second->kernel};
  if (const auto join = m_sharedJoins.find(fused.id); join != m_sharedJoins.end()) {
    const Backend& backend = backendOf(m_plan, fused, *m_request.accelerated);
    return ChosenTactic{*join->second,
                        TRY(m_chooser.kernels().kernel(backend, TRY(m_requests->of(fused)), *join->second))};
  }
  const PlannedTactic& planned = m_planned.at(fused.id);
  return m_chooser.take(backendOf(m_plan, fused, *m_request.accelerated), planned.request, planned.ways, planned.way);
}

Status Lowering::addFusedNode(const FusedNode& fused) {
  TRY(checkStop(m_request.stop));
  if (hasPlannedBodies(m_plan, fused)) return addBodyNode(fused);
  if (const auto why = whyDynamic(m_graph, m_requests->types(), fused)) return addDynamicNode(fused, *why);
  if (const auto view = m_requests->view(fused)) return addView(fused, *view);
  ChosenTactic chosen = TRY(tacticOf(fused));
  Step step{
      .name = fused.name, .fused = fused.id, .tactic = chosen.tactic.name, .emulated = chosen.tactic.numerics.emulated};
  step.kernel = std::move(chosen.kernel);
  step.compiledBy = std::make_shared<const Tactic>(chosen.tactic);
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    step.inputs.push_back(
        TRY(form(fused.inputs[i], m_requests->wantedType(fused, fused.inputs[i]), chosen.tactic.inputs[i])));
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const FusedOutput& output = fused.outputs[i];
    const Dims dims = TRY(m_requests->dimsOf(output.value));
    step.outputs.push_back(addBuffer(output.value, {output.type, dims, chosen.tactic.outputs[i]}));
    claimOutputs(step.outputs.back());
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
    const auto home = m_forms.find(input);
    const bool boxed = home != m_forms.end() && m_program.buffers[home->second.front()].place == Place::Boxed;
    step.inputs.push_back(boxed ? home->second.front() : TRY(form(input, types.back(), MemoryFormat())));
  }
  if (const auto shared = m_sharedSteps.find(fused.id); shared != m_sharedSteps.end()) {
    step.dynamic = shared->second->dynamic;
  } else {
    KernelRequest request{.plan = &m_plan, .fused = &fused, .threads = m_request.threads};
    TRY(m_requests->addConstants(request));
    step.dynamic = TRY(DynamicStep::prepare(backendOf(m_plan, fused, *m_request.accelerated), std::move(request),
                                            std::move(types), m_chooser.kernels(), *m_request.dynamicKernels));
  }
  for (const FusedOutput& output : fused.outputs) {
    if (isBoxed(output.value)) {
      step.outputs.push_back(addBox(output.value, output.type));
    } else {
      step.outputs.push_back(addBuffer(output.value, {output.type, TRY(m_requests->dimsOf(output.value))}));
      claimOutputs(step.outputs.back());
    }
  }
  m_program.steps.push_back(std::move(step));
  return Done{};
}

/// On bytes where all that it reads and leaves has extents; else as a dynamic step, whose programs are lowered for the
/// extents that it meets.
Status Lowering::addBodyNode(const FusedNode& fused) {
  Step step{.name = fused.name, .fused = fused.id, .tactic = std::string(kBodiesTactic)};
  std::vector<BorderType> inputs, outputs;
  for (const ValueId input : fused.inputs) {
    const auto home = m_forms.find(input);
    const bool boxed = home != m_forms.end() && m_program.buffers[home->second.front()].place == Place::Boxed;
    const DataType type = m_requests->wantedType(fused, input);
    step.inputs.push_back(boxed ? home->second.front() : TRY(form(input, type, MemoryFormat())));
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
  if (bodies.step == nullptr) bodies = TRY(lowerBodies(request, inputs, outputs, m_request, m_chooser));
  step.emulated = bodies.emulated;
  if (isDynamic) {
    step.dynamic = bodies.step;
  } else {
    step.body = bodies.step;
  }
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const FusedOutput& output = fused.outputs[i];
    if (!outputs[i].dims) {
      step.outputs.push_back(addBox(output.value, output.type));
      continue;
    }
    step.outputs.push_back(addBuffer(output.value, {output.type, *outputs[i].dims}));
    claimOutputs(step.outputs.back());
  }
  m_program.steps.push_back(std::move(step));
  return Done{};
}

Status Lowering::finishOutputs() {
  for (std::size_t i = 0; i < m_program.outputs.size(); ++i) {
    ProgramOutput& output = m_program.outputs[i];
    if (output.buffer != kNone) continue;
    const auto home = m_forms.find(output.value);
    if (home == m_forms.end())
      return Diagnostic{.message = "nothing makes this output", .where = {.value = m_graph.value(output.value).name}};
    const std::size_t from = home->second.front();
    const Buffer& source = m_program.buffers[from];
    const bool asWanted = source.desc.dtype == output.type && source.desc.format.isPlain();
    if (source.place == Place::Boxed || source.desc.dtype == DataType::String ||
        (m_request.borrowsOutputs && asWanted && !isPart(from))) {
      output.buffer = from;
      continue;
    }
    const std::size_t to = addBuffer(output.value, {output.type, source.desc.dims});
    m_program.buffers[to].place = Place::Output;
    m_program.buffers[to].index = i;
    output.buffer = to;
    TRY(addConversion(from, to, nullptr));
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
  return std::move(m_program);
}

}  // namespace

Result<Program> lower(const LoweringRequest& request, TacticChooser& chooser) {
  return Lowering(request, chooser).run();
}

}  // namespace fusescope
