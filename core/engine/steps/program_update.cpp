#include "engine/steps/program_update.h"

#include <algorithm>

#include "engine/kernels/kernel_requests.h"
#include "engine/kernels/plan_backend.h"
#include "engine/program/joins.h"
#include "ir/graph.h"

namespace fusescope {
ProgramUpdate::ProgramUpdate(const Plan& plan, PlanExtents extents, int threads, KernelStore& kernels)
    : m_plan(plan), m_extents(std::move(extents)), m_threads(threads), m_kernels(kernels) {}

std::unique_ptr<ProgramUpdate> ProgramUpdate::create(const Plan& plan, const std::map<std::string, Dims>& known,
                                                     int threads, KernelStore& kernels) {
  auto extents = PlanExtents::prove(plan, known);
  if (!extents) return nullptr;
  std::unique_ptr<ProgramUpdate> update(new ProgramUpdate(plan, std::move(*extents), threads, kernels));
  return update->addNodes(known).ok() ? std::move(update) : nullptr;
}

void ProgramUpdate::OpenNode::addValues(const PlanExtents& known) {
  from = to = extentsOf(*request);
  const auto add = [&](ValueId value, Dims& before, Dims& after) {
    if (!known.openAxes(value).empty()) values.push_back({value, &request->values.at(value).dims, &before, &after});
  };
  const FusedNode& fused = *request->fused;
  for (std::size_t i = 0; i < fused.inputs.size(); ++i) add(fused.inputs[i], from.inputs[i], to.inputs[i]);
  for (std::size_t i = 0; i < fused.outputs.size(); ++i) add(fused.outputs[i].value, from.outputs[i], to.outputs[i]);
  const std::vector<ValueId> inner = innerValues(*request);
  for (std::size_t i = 0; i < inner.size(); ++i) add(inner[i], from.inner[i], to.inner[i]);
}

Status ProgramUpdate::addNodes(const std::map<std::string, Dims>& known) {
  const KernelRequests requests = TRY(KernelRequests::create(m_plan, known, m_threads));
  const auto addNumbers = [&](ValueId value, OpenNode& node) {
    for (const PlanExtents::OpenAxis& axis : m_extents.openAxes(value))
      if (std::ranges::find(node.numbers, axis.number) == node.numbers.end()) node.numbers.push_back(axis.number);
  };
  m_nodes.resize(m_plan.fusedNodes.size());
  for (const FusedNode& fused : m_plan.fusedNodes) {
    auto node = std::make_unique<OpenNode>();
    for (const ValueId input : fused.inputs) addNumbers(input, *node);
    for (const NodeId id : fused.nodes)
      for (const ValueId output : m_plan.graph().node(id).outputs)
        if (output.valid()) addNumbers(output, *node);
    if (node->numbers.empty()) continue;
    if (auto request = requests.of(fused); request.ok()) {
      node->request = std::move(request).value();
      node->addValues(m_extents);
    }
    m_nodes[fused.id.index] = std::move(node);
  }
  return Done{};
}

bool ProgramUpdate::isChanged(ValueId value) const {
  return std::ranges::any_of(m_extents.openAxes(value),
                             [&](const PlanExtents::OpenAxis& axis) { return m_changed[axis.number]; });
}

void ProgramUpdate::setDims(ValueId value, const PlanExtents::Numbers& numbers, Dims& dims) const {
  for (const PlanExtents::OpenAxis& axis : m_extents.openAxes(value)) dims[axis.axis] = numbers[axis.number];
}

void ProgramUpdate::changeNode(OpenNode& node) const {
  node.changed = std::ranges::any_of(node.numbers, [&](std::size_t number) { return m_changed[number]; });
  if (!node.changed) return;
  for (const OpenNode::OpenValue& open : node.values) {
    setDims(open.value, *m_to, *open.inRequest);
    setDims(open.value, *m_from, *open.inFrom);
    setDims(open.value, *m_to, *open.inTo);
  }
}

bool ProgramUpdate::isChangedNode(FusedNodeId fused) const {
  const OpenNode* node = m_nodes[fused.index].get();
  return node != nullptr && node->changed;
}

/// Returns false if a view has other elements than the buffer that it views.
bool ProgramUpdate::changeBuffers(Program& program) const {
  for (Buffer& buffer : program.buffers)
    if (buffer.place != Place::Boxed && buffer.place != Place::Constant) setDims(buffer.value, *m_to, buffer.desc.dims);
  if (!changeParts(program)) return false;
  return std::ranges::all_of(program.buffers, [&](const Buffer& buffer) {
    const Buffer& root = program.buffers[buffer.root];
    return &root == &buffer || !isChanged(buffer.value) || buffer.begin + buffer.desc.bytes() <= root.desc.bytes();
  });
}

/// Returns false if a part is no longer contiguous.
bool ProgramUpdate::changeParts(Program& program) const {
  bool moved = false;
  for (const FreeView& view : program.views) {
    if (!view.buffer || !isChangedNode(view.fused)) continue;
    Buffer& buffer = program.buffers[*view.buffer];
    const auto part = viewOf(m_plan, m_plan.fusedNodes[view.fused.index],
                             [&](ValueId value) { return std::optional(m_extents.dimsOf(value, *m_to)); });
    if (!part || !part->isPart) return false;
    buffer.shift = byteSize(buffer.desc.dtype, part->begin);
    moved = true;
  }
  for (const Join& join : program.joins) {
    if (!isChangedNode(join.fused)) continue;
    if (!placeJoin(program, join)) return false;
    moved = true;
  }
  if (moved) placeViews(program);
  return true;
}

bool ProgramUpdate::isWithinWorkspace(const Kernel& kernel) const {
  const std::int64_t limit = m_plan.options.workspaceBytes;
  return limit == 0 || static_cast<std::int64_t>(kernel.workspaceBytes()) <= limit;
}

std::shared_ptr<const Kernel> ProgramUpdate::conversionFor(const Program& program, const Step& step) const {
  const TensorDesc& from = program.buffers[step.inputs.front()].desc;
  const TensorDesc& to = program.buffers[step.outputs.front()].desc;
  auto kernel = m_kernels.conversion(acceleratedBackendOf(m_plan), from, to, m_threads);
  return kernel.ok() ? std::move(kernel).value() : nullptr;
}

/// Equal regions at equal extents share their code, as they did before, so that only the first is compiled.
std::shared_ptr<const Kernel> ProgramUpdate::kernelFor(const Step& step, const OpenNode& node) {
  const Code* former = step.kernel->code().get();
  for (const Made& made : m_made) {
    if (made.former != former || *made.to != node.to) continue;
    if (auto kernel = step.kernel->withCode(made.kernel->code(), made.kernel->compiledNames())) return kernel;
  }
  const KernelRequest& request = *node.request;
  const Backend& backend = backendOf(m_plan, *request.fused);
  auto kernel = m_kernels.atOtherExtents(backend, request, node.from, node.to, *step.compiledBy, *step.kernel);
  if (!kernel.ok()) return nullptr;
  m_made.push_back({former, &node.to, kernel.value()});
  return std::move(kernel).value();
}

bool ProgramUpdate::changeStep(Program& program, Step& step) {
  const bool isOpen = step.fused.valid() && isChangedNode(step.fused);
  if (step.kernel == nullptr) {
    // Kernels that are prepared while the program runs contain no extents, but bodies were lowered for theirs.
    const bool hasBodies = step.body != nullptr || dynamic_cast<const BodyStep*>(step.dynamic.get()) != nullptr;
    return !hasBodies || !isOpen;
  }
  std::shared_ptr<const Kernel> kernel;
  if (step.compiledBy == nullptr) {
    if (!isChanged(program.buffers[step.inputs.front()].value) &&
        !isChanged(program.buffers[step.outputs.front()].value))
      return true;
    kernel = conversionFor(program, step);
  } else {
    if (!isOpen) return true;
    const OpenNode& node = *m_nodes[step.fused.index];
    if (!node.request) return false;
    kernel = kernelFor(step, node);
  }
  if (kernel == nullptr || !isWithinWorkspace(*kernel)) return false;
  step.kernel = std::move(kernel);
  return true;
}

bool ProgramUpdate::apply(Program& program, const PlanExtents::Numbers& from, const PlanExtents::Numbers& to) {
  if (program.arenas.size() > 1) return false;
  m_from = &from;
  m_to = &to;
  m_changed.resize(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) m_changed[i] = from[i] != to[i];
  for (const auto& node : m_nodes)
    if (node != nullptr) changeNode(*node);
  m_made.clear();
  if (!changeBuffers(program)) return false;
  for (Step& step : program.steps)
    if (!changeStep(program, step)) return false;
  m_made.clear();
  fitMemory(program);
  return true;
}

}  // namespace fusescope
