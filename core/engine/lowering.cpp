#include "engine/lowering.h"

#include <algorithm>

#include "engine/body_lowering.h"
#include "engine/boxed_values.h"
#include "engine/dynamic_step.h"
#include "engine/joins.h"
#include "engine/kernel_requests.h"
#include "engine/plan_tactics.h"
#include "engine/segment_graph.h"
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
  void chooseUnits();
  Status addSegment(const Segment& segment);
  void readBack(const SegmentGraph& segment, const Code& code);
  Status addDynamicNode(const FusedNode& fused, const std::string& why);
  Status addBodyNode(const FusedNode& fused);
  Status addView(const FusedNode& fused, const ByteView& view);
  Status planTactics();
  Result<ChosenTactic> tacticOf(const FusedNode& fused);
  Status finishOutputs();

  bool isBoxed(ValueId value) const { return fusescope::isBoxed(m_graph, m_requests->types(), value); }
  std::size_t addBuffer(ValueId value, TensorDesc desc, std::size_t device = kHost);
  std::size_t addBox(ValueId value, DataType type);
  void claimOutputs(std::size_t buffer);
  /// The buffer that holds `value` in this form, converting it from its home form if there is none yet.
  Result<std::size_t> form(ValueId value, DataType type, const MemoryFormat& format, std::size_t device = kHost);
  /// One of a value that another device has.
  Result<std::size_t> formFrom(std::size_t home, DataType type, const MemoryFormat& format, std::size_t device);
  std::size_t homeDevice(ValueId value) const;
  std::size_t findForm(ValueId value, const std::function<bool(const Buffer&)>& isWanted) const;
  Status addConversion(std::size_t from, std::size_t to, const FusedNode* fused);
  std::size_t addCopy(std::size_t from, std::size_t device);
  /// The place of a backend's device among those of the program.
  std::size_t deviceOf(const Backend& backend);
  /// What converts on a device.
  const Backend& converter(std::size_t device) const;
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
  std::vector<bool> m_isWhole;                                         ///< by SegmentId: it is compiled as a whole
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

std::size_t Lowering::addBuffer(ValueId value, TensorDesc desc, std::size_t device) {
  const std::size_t id = m_program.buffers.size();
  m_program.buffers.push_back({.value = value, .desc = std::move(desc), .within = id, .device = device});
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

std::size_t Lowering::findForm(ValueId value, const std::function<bool(const Buffer&)>& isWanted) const {
  const auto forms = m_forms.find(value);
  if (forms == m_forms.end()) return kNone;
  const auto found =
      std::ranges::find_if(forms->second, [&](std::size_t id) { return isWanted(m_program.buffers[id]); });
  return found == forms->second.end() ? kNone : *found;
}

std::size_t Lowering::deviceOf(const Backend& backend) {
  const auto found = std::ranges::find(m_program.arenas, &backend.device(), &Arena::device);
  const auto place = static_cast<std::size_t>(found - m_program.arenas.begin());
  if (found == m_program.arenas.end()) m_program.arenas.push_back({&backend.device()});
  return place;
}

std::size_t Lowering::homeDevice(ValueId value) const {
  const auto home = m_forms.find(value);
  return home == m_forms.end() ? kHost : m_program.buffers[home->second.front()].device;
}

const Backend& Lowering::converter(std::size_t device) const {
  const bool isOwn = &m_request.accelerated->device() == m_program.arenas[device].device;
  return isOwn ? *m_request.accelerated : *findBackend("reference");
}

/// Lets a buffer that is just what an output wants be written straight into the caller's tensor.
void Lowering::claimOutputs(std::size_t id) {
  Buffer& buffer = m_program.buffers[id];
  if (buffer.place != Place::Arena || buffer.device != kHost || !buffer.desc.format.isPlain()) return;
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
  const std::size_t device = m_program.buffers[from].device;
  Step step{.inputs = {from}, .outputs = {to}, .device = device};
  const std::string& value = m_graph.value(m_program.buffers[to].value).name;
  step.name = fused != nullptr ? fused->name : value + ": " + formText(source) + " to " + formText(target);
  step.tactic = fused != nullptr ? "copy" : "convert";
  if (fused != nullptr) step.fused = fused->id;
  const Backend& backend = converter(device);
  step.kernel = TRY(m_chooser.kernels().conversion(backend, source, target, m_request.threads));
  step.emulated = backend.emulatesConversion(source, target);
  const auto needed = static_cast<std::int64_t>(step.kernel->workspaceBytes());
  const std::int64_t limit = m_plan.options.workspaceBytes;
  if (limit > 0 && needed > limit) return tooLittleWorkspace(step.name, needed, limit);
  m_chooser.noteConversion(backend, source, target);
  m_program.steps.push_back(std::move(step));
  return Done{};
}

/// A copy on another device, which lies there as it does here.
std::size_t Lowering::addCopy(std::size_t from, std::size_t device) {
  const Buffer source = m_program.buffers[from];
  const std::size_t to = addBuffer(source.value, source.desc, device);
  claimOutputs(to);
  const auto deviceName = [&](std::size_t place) { return std::string(m_program.arenas[place].device->name()); };
  m_program.steps.push_back(
      {.name = m_graph.value(source.value).name + ": " + deviceName(source.device) + " to " + deviceName(device),
       .tactic = std::string(kDeviceCopyTactic),
       .copy = device == kHost ? CopyDirection::FromDevice : CopyDirection::ToDevice,
       .inputs = {from},
       .outputs = {to},
       .device = device == kHost ? source.device : device});
  return to;
}

/// What it is converted to or from, it is on the device: the host need not know formats of others.
Result<std::size_t> Lowering::formFrom(std::size_t home, DataType type, const MemoryFormat& format,
                                       std::size_t device) {
  const Buffer source = m_program.buffers[home];
  if (source.device == kHost) {
    addCopy(home, device);
    return form(source.value, type, format, device);
  }
  const std::size_t there = TRY(form(source.value, type, format, source.device));
  const std::size_t here = addCopy(there, kHost);
  return device == kHost ? here : addCopy(here, device);
}

Result<std::size_t> Lowering::form(ValueId value, DataType type, const MemoryFormat& format, std::size_t device) {
  const std::size_t known = findForm(value, [&](const Buffer& buffer) {
    return buffer.device == device && buffer.desc.dtype == type && buffer.desc.format == format;
  });
  if (known != kNone) return known;
  const auto home = m_forms.find(value);
  if (home == m_forms.end())
    return Diagnostic{.message = "is read before anything makes it", .where = {.value = m_graph.value(value).name}};
  const DataType whole = m_program.buffers[home->second.front()].desc.dtype;  // others may be rounded
  const std::size_t from =
      findForm(value, [&](const Buffer& buffer) { return buffer.device == device && buffer.desc.dtype == whole; });
  if (from == kNone) return formFrom(home->second.front(), type, format, device);
  const std::size_t id = addBuffer(value, {type, m_program.buffers[from].desc.dims, format}, device);
  claimOutputs(id);
  TRY(addConversion(from, id, nullptr));
  return id;
}

/// A part of a value is copied only where it is handed out, by finishOutputs().
Status Lowering::addView(const FusedNode& fused, const ByteView& view) {
  const FusedOutput& output = fused.outputs.front();
  const std::size_t from = TRY(form(view.source, output.type, MemoryFormat(), homeDevice(view.source)));
  const Dims dims = TRY(m_requests->dimsOf(output.value));
  if (!view.isPart && elementCount(dims) != elementCount(m_program.buffers[from].desc.dims))
    return Diagnostic{.message = "cannot see " + toText(m_program.buffers[from].desc.dims) + " as " + toText(dims),
                      .where = {.node = fused.name}};
  const std::size_t device = m_program.buffers[from].device;
  const std::size_t to = addBuffer(output.value, {output.type, dims}, device);
  if (device == kHost && isHandedOut(output.value) && !m_request.borrowsOutputs && !view.isPart) {
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
                            .isWhole = m_isWhole,
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
  const std::size_t device = deviceOf(backendOf(m_plan, fused, *m_request.accelerated));
  Step step{.name = fused.name,
            .fused = fused.id,
            .tactic = chosen.tactic.name,
            .emulated = chosen.tactic.numerics.emulated,
            .device = device};
  step.kernel = std::move(chosen.kernel);
  step.compiledBy = std::make_shared<const Tactic>(chosen.tactic);
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    step.inputs.push_back(
        TRY(form(fused.inputs[i], m_requests->wantedType(fused, fused.inputs[i]), chosen.tactic.inputs[i], device)));
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) {
    const FusedOutput& output = fused.outputs[i];
    const Dims dims = TRY(m_requests->dimsOf(output.value));
    step.outputs.push_back(addBuffer(output.value, {output.type, dims, chosen.tactic.outputs[i]}, device));
    claimOutputs(step.outputs.back());
  }
  m_program.steps.push_back(std::move(step));
  return Done{};
}

void Lowering::chooseUnits() {
  m_isWhole.assign(m_plan.segments.size(), false);
  if (m_request.accelerated->segmentCompiler() == nullptr) return;
  for (const Segment& segment : m_plan.segments) {
    if (segment.kind == SegmentKind::Fallback) continue;
    const auto why = whyInParts(m_plan, segment, m_requests->types());
    m_isWhole[segment.id.index] = !why;
    m_chooser.noteSegment(segment, why);
  }
}

/// What its compiler says of it, in the ids of the plan.
void Lowering::readBack(const SegmentGraph& segment, const Code& code) {
  for (ReadBackNode made : code.readBack()) {
    for (NodeId& node : made.nodes) node = segment.nodes[node.index];
    for (auto& [value, type] : made.outputs) value = segment.values[value.index];
    m_program.readBack.push_back(std::move(made));
  }
}

Status Lowering::addSegment(const Segment& segment) {
  TRY(checkStop(m_request.stop));
  if (m_request.progress) m_request.progress("kernels", segment.name);
  const Backend& backend = *m_request.accelerated;
  const SegmentGraph made =
      TRY(segmentGraph(m_plan, segment, *m_requests, [&](ValueId value) { return isHandedOut(value); }));
  const std::size_t device = deviceOf(backend);
  Step step{.name = segment.name, .segment = segment.id, .tactic = std::string(backend.name()), .device = device};
  step.kernel = TRY(m_chooser.kernels().segment(backend, made, m_plan.model->files));
  const auto needed = static_cast<std::int64_t>(step.kernel->workspaceBytes());
  if (const std::int64_t limit = m_plan.options.workspaceBytes; limit > 0 && needed > limit)
    return tooLittleWorkspace(segment.name, needed, limit);
  for (std::size_t i = 0; i < made.inputs.size(); ++i)
    step.inputs.push_back(TRY(form(made.inputs[i], made.request.inputs[i].dtype, MemoryFormat(), device)));
  for (std::size_t i = 0; i < made.outputs.size(); ++i) {
    step.outputs.push_back(addBuffer(made.outputs[i], made.request.outputs[i], device));
    claimOutputs(step.outputs.back());
  }
  readBack(made, *step.kernel->code());
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
    std::size_t from = home->second.front();
    if (m_program.buffers[from].device != kHost) {
      from = TRY(form(output.value, output.type, MemoryFormat()));
      if (output.buffer != kNone) continue;  // copied to where it is handed out
    }
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
  chooseUnits();
  TRY(planTactics());
  for (const RunUnit& unit : runUnits(m_plan, m_isWhole))
    TRY(unit.fused != nullptr ? addFusedNode(*unit.fused) : addSegment(*unit.segment));
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
