#include "engine/steps/value_forms.h"

#include <algorithm>

#include "backends/reference/reference_backend.h"
#include "engine/kernels/plan_backend.h"
#include "engine/kernels/workspace.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

std::string formText(const TensorDesc& desc) {
  std::string text(name(desc.dtype));
  if (!desc.format.isPlain()) text += " " + desc.format.text();
  return text;
}

}  // namespace

ValueForms::ValueForms(const LoweringRequest& request, TacticChooser& chooser, Program& program)
    : m_request(request),
      m_plan(*request.plan),
      m_graph(request.plan->graph()),
      m_chooser(chooser),
      m_program(program) {}

std::optional<std::size_t> ValueForms::home(ValueId value) const {
  const auto forms = m_forms.find(value);
  return forms == m_forms.end() ? std::nullopt : std::optional(forms->second.front());
}

bool ValueForms::isReturned(ValueId value) const {
  return std::ranges::any_of(m_program.outputs, [&](const ProgramOutput& output) { return output.value == value; });
}

bool ValueForms::isPart(std::size_t buffer) const {
  const auto at = [&](std::size_t id) -> const Buffer& { return m_program.buffers[id]; };
  const std::size_t bytes = at(buffer).desc.bytes();
  while (at(buffer).within != buffer) buffer = at(buffer).within;
  return at(buffer).desc.bytes() != bytes;
}

std::size_t ValueForms::addBuffer(ValueId value, TensorDesc desc, std::size_t device) {
  const std::size_t id = m_program.buffers.size();
  m_program.buffers.push_back({.value = value, .desc = std::move(desc), .within = id, .device = device});
  m_forms[value].push_back(id);
  return id;
}

std::size_t ValueForms::addBox(ValueId value, DataType type) {
  const std::size_t buffer = addBuffer(value, {type, {}});
  m_program.buffers[buffer].place = Place::Boxed;
  m_program.buffers[buffer].index = m_program.boxCount++;
  return buffer;
}

std::size_t ValueForms::findForm(ValueId value, const std::function<bool(const Buffer&)>& isWanted) const {
  const auto forms = m_forms.find(value);
  if (forms == m_forms.end()) return kNone;
  const auto found =
      std::ranges::find_if(forms->second, [&](std::size_t id) { return isWanted(m_program.buffers[id]); });
  return found == forms->second.end() ? kNone : *found;
}

std::size_t ValueForms::deviceOf(const Backend& backend) {
  const auto found = std::ranges::find(m_program.arenas, &backend.device(), &Arena::device);
  const auto place = static_cast<std::size_t>(found - m_program.arenas.begin());
  if (found == m_program.arenas.end()) m_program.arenas.push_back({&backend.device()});
  return place;
}

std::size_t ValueForms::homeDevice(ValueId value) const {
  const auto home = m_forms.find(value);
  return home == m_forms.end() ? kHost : m_program.buffers[home->second.front()].device;
}

const Backend& ValueForms::converter(std::size_t device) const {
  const Backend& own = acceleratedBackendOf(m_plan);
  return &own.device() == m_program.arenas[device].device ? own : referenceBackend();
}

/// If a buffer has exactly the form of an output, it is written directly into the caller's tensor.
void ValueForms::claimOutputs(std::size_t id) {
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

Status ValueForms::addConversion(std::size_t from, std::size_t to, const FusedNode* fused) {
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

/// Adds a copy on another device, with the same memory format.
std::size_t ValueForms::addCopy(std::size_t from, std::size_t device) {
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

/// Conversions are done on the device, because the host need not know the formats of other devices.
Result<std::size_t> ValueForms::formFrom(std::size_t home, DataType type, const MemoryFormat& format,
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

Result<std::size_t> ValueForms::form(ValueId value, DataType type, const MemoryFormat& format, std::size_t device) {
  const std::size_t known = findForm(value, [&](const Buffer& buffer) {
    return buffer.device == device && buffer.desc.dtype == type && buffer.desc.format == format;
  });
  if (known != kNone) return known;
  const auto home = m_forms.find(value);
  if (home == m_forms.end())
    return Diagnostic{.message = "is read before any step writes it", .where = {.value = m_graph.value(value).name}};
  const DataType whole = m_program.buffers[home->second.front()].desc.dtype;  // other forms may be rounded
  const std::size_t from =
      findForm(value, [&](const Buffer& buffer) { return buffer.device == device && buffer.desc.dtype == whole; });
  if (from == kNone) return formFrom(home->second.front(), type, format, device);
  const std::size_t id = addBuffer(value, {type, m_program.buffers[from].desc.dims, format}, device);
  claimOutputs(id);
  TRY(addConversion(from, id, nullptr));
  return id;
}

}  // namespace fusescope
