#include "backends/reference/reference_nodes.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/reference/convert_elements.h"
#include "base/hash.h"
#include "ops/exact_types.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "ops/run_node.h"
#include "planning/fusion/match.h"
#include "planning/structure.h"
#include "planning/types/read_type.h"

namespace fusescope {
namespace {

/// Returns the type in which a node calculates with an operand that is stored as `type`: float32 replaces every
/// narrower float. Types of at most 8 bits that the network itself declares are kept, because such values are only
/// moved and converted.
DataType mathType(DataType type, DataType declared) {
  const bool isStorage = bitWidth(type) <= 8 && type == declared;
  return isFloat(type) && type != DataType::F64 && !isStorage ? DataType::F32 : type;
}

bool isNarrowFloat(DataType type) {
  return isFloat(type) && bitWidth(type) <= 16;
}

/// Returns a float32 tensor rounded to `type`. Other tensors, and tensors for wider types, are returned unchanged.
Tensor roundedTensor(const Tensor& tensor, DataType type) {
  const bool narrows = isFloat(type) && type != DataType::F32 && type != DataType::F64;
  if (!narrows || tensor.type() != DataType::F32 || tensor.container() != Container::None) return tensor;
  Tensor result = Tensor::zeros(DataType::F32, tensor.dims());
  std::memcpy(result.mutableBytes(), tensor.bytes(), tensor.byteSize());
  roundElements(type, result.mutableData<float>().data(), result.count());
  return result;
}

/// Converts int64 to int32. Numbers outside of the range become its ends instead of wrapping around, which is what a
/// truncation permits for operands that saturate.
Tensor saturatedToInt32(const Tensor& tensor) {
  Tensor result = Tensor::zeros(DataType::I32, tensor.dims());
  const auto out = result.mutableData<std::int32_t>();
  for (std::int64_t i = 0; i < tensor.count(); ++i)
    out[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        tensor.asInt64(i), std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  return result;
}

Tensor truncatedConstant(const Tensor& tensor, DataType to) {
  if (tensor.type() == DataType::I64 && to == DataType::I32) return saturatedToInt32(tensor);
  return convertedTensor(tensor, to);
}

/// Returns whether operands of the node that are declared with one type must have one type.
bool wantsEqualOperands(const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr) return false;
  return schema->kind == OpKind::Elementwise || schema->kind == OpKind::MatMul || node.is("Concat") || node.is("Range");
}

/// Returns the type to which this fused node truncates a constant. Fallback segments keep the types of the model.
DataType constantType(const KernelRequest& request, ValueId value, DataType own) {
  if (request.plan->inFallback(*request.fused)) return own;
  const auto& truncated = request.plan->truncation.constants;
  const auto found = std::ranges::find(truncated, value, &TruncatedValue::value);
  return found == truncated.end() ? own : found->to;
}

/// Returns whether the operands of a node must have the types that the model declares, because bodies and containers
/// were typed with them.
bool insistsOnTypes(const Graph& graph, const Node& node) {
  const auto isContainer = [&](ValueId id) { return id.valid() && graph.value(id).type.container != Container::None; };
  if (std::ranges::any_of(node.inputs, isContainer) || std::ranges::any_of(node.outputs, isContainer)) return true;
  return hasBody(node);
}

/// If the plan narrowed only some of the operands that the graph declares with one wide type, all of them become
/// narrow.
void equaliseOperands(std::vector<Tensor>& tensors) {
  for (const auto& [wide, narrow] :
       {std::pair(DataType::I64, DataType::I32), std::pair(DataType::F64, DataType::F32)}) {
    const auto has = [&](DataType type) {
      return std::ranges::any_of(tensors, [&](const Tensor& tensor) { return tensor.type() == type; });
    };
    if (!has(wide) || !has(narrow)) continue;
    for (Tensor& tensor : tensors)
      if (tensor.type() == wide) tensor = truncatedConstant(tensor, narrow);
  }
}

}  // namespace

DataType emulatedType(const Plan& plan, const FusedNode& fused) {
  for (const NodeId id : fused.nodes) {
    const DataType type = plan.calculates[id.index];
    if ((isNarrowFloat(type) && plan.readsMemory(id)) || type == DataType::I8) return type;
  }
  for (const ValueId input : fused.inputs)
    if (const DataType type = plan.storedType(input); isNarrowFloat(type)) return type;
  for (const FusedOutput& output : fused.outputs)
    if (isNarrowFloat(output.type)) return output.type;
  for (const InnerEdge& edge : fused.innerEdges)
    if (edge.real && isNarrowFloat(edge.type)) return edge.type;
  for (const NodeId node : fused.nodes)
    for (const ValueId operand : operands(plan.graph().node(node)))
      if (operand.valid() && plan.graph().isConstant(operand) && isNarrowFloat(plan.storedType(operand)))
        return plan.storedType(operand);
  return DataType::Undefined;
}

Result<ReferenceNodes::Operand> ReferenceNodes::operandOf(const KernelRequest& request, const Node& node, std::size_t i,
                                                          ValueId id) {
  if (!id.valid()) return Operand{};
  const Value& value = request.plan->graph().value(id);
  const bool exact = needsExactTypes(node) && isNarrowFloat(value.type.dtype);
  Operand operand{.rounded = narrowReadType(*request.plan, node, i), .asStored = exact};
  if (exact) operand.type = value.type.dtype;
  if (const auto given = std::ranges::find(m_inputs, id); given != m_inputs.end()) {
    operand.from = Operand::From::Input;
    operand.index = static_cast<std::size_t>(given - m_inputs.begin());
    return operand;
  }
  if (const auto inner = m_innerIndex.find(id); inner != m_innerIndex.end()) {
    operand.from = Operand::From::Inner;
    operand.index = inner->second;
    if (!m_moved.contains(id)) operand.rounded = DataType::Undefined;
    return operand;
  }
  const auto constant = request.constants.find(id);
  if (constant == request.constants.end() || !constant->second.hasData())
    return Diagnostic{.message = "reads a value without data", .where = {.node = node.name, .value = value.name}};
  const auto [entry, isNew] =
      m_constantIndex.emplace(std::tuple(id, operand.rounded, operand.type), m_constants.size());
  if (isNew) addConstant(request, id, constant->second, operand);
  operand.from = Operand::From::Constant;
  operand.index = entry->second;
  return operand;
}

void ReferenceNodes::addConstant(const KernelRequest& request, ValueId id, const Tensor& tensor,
                                 const Operand& operand) {
  const DataType type = constantType(request, id, tensor.type());
  const DataType wanted = operand.asStored ? operand.type : mathType(type, request.plan->graph().value(id).type.dtype);
  const auto slot = std::ranges::find(request.weightSlots, id);
  const auto place = static_cast<std::size_t>(slot - request.weightSlots.begin());
  const auto read = [type, wanted, rounded = operand.rounded](const Tensor& source) {
    return roundedTensor(convertedTensor(truncatedConstant(source, type), wanted), rounded);
  };
  if (tensor.type() == DataType::String) {
    m_constants.push_back({.text = read(tensor)});
    m_embedded.push_back(place);
    return;
  }
  m_constants.push_back({.type = wanted, .dims = tensor.dims(), .text = {}});
  KeyBuilder form;
  form.text("reference").text(name(type)).text(name(wanted)).text(name(operand.rounded));
  m_packings.push_back(
      {.form = form.canonical(),
       .weightSlots = {place},
       .pack = [read](std::span<const Tensor> sources) -> Result<Tensor> { return read(sources[0]); }});
}

ReferenceNodes::NodeResult ReferenceNodes::resultOf(const KernelRequest& request, ValueId value) {
  NodeResult result{.wanted = value.valid()};
  if (!result.wanted) return result;
  result.inner = m_innerCount++;
  result.declared = request.plan->graph().value(value).type.dtype;
  m_innerIndex.emplace(value, result.inner);
  const FusedNode& fused = *request.fused;
  const auto& produced = request.plan->truncation.produced;
  const auto truncated = std::ranges::find(produced, value, &TruncatedValue::value);
  if (truncated != produced.end() && !request.plan->inFallback(fused))
    result.type = mathType(truncated->to, result.declared);
  for (const InnerEdge& edge : fused.innerEdges) {
    if (edge.value != value) continue;
    if (edge.real || !isFloat(edge.type)) result.type = mathType(edge.type, result.declared);
    if (edge.real || isExchangeable(edge.type)) result.edge = edge.type;
  }
  for (std::size_t i = 0; i < fused.outputs.size(); ++i)
    if (fused.outputs[i].value == value) result.output = i;
  return result;
}

Status ReferenceNodes::addNode(const KernelRequest& request, const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr || !schema->kernel) {
    const NoKernel reason = whyNoKernel(node);
    return Diagnostic{.message = reason.why + ", so this network cannot run here",
                      .where = {.node = node.name},
                      .help = reason.help + (reason.help.empty() ? "" : " ") + "It can be looked at and planned."};
  }
  const Graph& graph = request.plan->graph();
  NodeStep step{.node = node};
  step.equalOperands = wantsEqualOperands(node);
  const bool insists = insistsOnTypes(graph, node);
  for (const ValueId id : operands(node)) {
    step.operands.push_back(TRY(operandOf(request, node, step.operands.size(), id)));
    if (insists && id.valid()) step.operands.back().type = graph.value(id).type.dtype;
  }
  step.passes = isFloatCast(graph, node);
  const auto movesFromMemory = [&](std::size_t i) {
    const Operand::From from = step.operands[i].from;
    const bool data =
        i < node.inputs.size() && node.inputs[i].valid() && isFloat(graph.value(node.inputs[i]).type.dtype);
    return data && (from == Operand::From::Input || from == Operand::From::Constant);
  };
  bool moved = false;
  for (std::size_t i = 0; i < step.operands.size(); ++i)
    moved = moved || (movesElements(*request.plan, node.id) && movesFromMemory(i));
  const bool movedOn = movesElements(*request.plan, node.id) &&
                       std::ranges::any_of(node.inputs, [&](ValueId id) { return id.valid() && m_moved.contains(id); });
  for (const ValueId output : node.outputs) {
    step.results.push_back(resultOf(request, output));
    if (output.valid() && (moved || movedOn)) m_moved.insert(output);
  }
  m_steps.push_back(std::move(step));
  return Done{};
}

Result<std::unique_ptr<const ReferenceNodes>> ReferenceNodes::prepare(const KernelRequest& request) {
  std::unique_ptr<ReferenceNodes> nodes(new ReferenceNodes);
  const FusedNode& fused = *request.fused;
  nodes->m_inputs = fused.inputs;
  for (const ValueId input : fused.inputs) nodes->m_declared.push_back(request.plan->graph().value(input).type.dtype);
  for (const FusedOutput& output : fused.outputs) nodes->m_outputTypes.push_back(output.type);
  for (const NodeId id : fused.nodes) TRY(nodes->addNode(request, request.plan->graph().node(id)));
  return std::unique_ptr<const ReferenceNodes>(std::move(nodes));
}

Result<std::vector<Tensor>> ReferenceNodes::constantsOf(const KernelRequest& request) const {
  std::vector<Tensor> constants;
  auto packing = m_packings.begin();
  for (const Constant& constant : m_constants) {
    if (constant.text) {
      constants.push_back(*constant.text);
      continue;
    }
    const Tensor& source = request.constants.at(request.weightSlots[packing->weightSlots.front()]);
    constants.push_back(TRY((packing++)->pack(std::span(&source, 1))));
  }
  return constants;
}

std::vector<Tensor> ReferenceNodes::constantsAt(std::span<const std::byte* const> packed) const {
  std::vector<Tensor> constants;
  auto at = packed.begin();
  for (const Constant& constant : m_constants)
    constants.push_back(constant.text ? *constant.text : Tensor::view(constant.type, constant.dims, nullptr, *at++));
  return constants;
}

Tensor ReferenceNodes::fetch(const Operand& operand, const Work& work) const {
  const auto seen = [&](const Tensor& math, const Tensor& stored) {
    if (operand.asStored) return convertedTensor(stored, operand.type);
    return convertedTensor(roundedTensor(math, operand.rounded), operand.type);
  };
  switch (operand.from) {
    case Operand::From::Absent:
      return {};
    case Operand::From::Constant:
      return convertedTensor(work.constants[operand.index], operand.type);
    case Operand::From::Input:
      return seen(work.given[operand.index], work.stored[operand.index]);
    case Operand::From::Inner:
      return seen(work.inner[operand.index], work.results[operand.index]);
  }
  return {};
}

void ReferenceNodes::keep(const NodeResult& result, const Tensor& tensor, Work& work) const {
  if (result.output) work.outputs[*result.output] = convertedTensor(tensor, m_outputTypes[*result.output]);
  const DataType type = result.type != DataType::Undefined ? result.type : mathType(tensor.type(), result.declared);
  work.results[result.inner] = tensor;
  work.inner[result.inner] = roundedTensor(convertedTensor(tensor, type), result.edge);
}

Status ReferenceNodes::runStep(const NodeStep& step, Work& work, const StopToken& stop) const {
  std::vector<Tensor> tensors;
  for (const Operand& operand : step.operands) tensors.push_back(fetch(operand, work));
  if (step.equalOperands) equaliseOperands(tensors);
  const bool disturbed = work.disturbance != nullptr && !step.passes;
  if (disturbed) work.disturbance->disturbOperands(step.node, tensors);
  std::vector<const Tensor*> pointers;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    pointers.push_back(step.operands[i].from == Operand::From::Absent ? nullptr : &tensors[i]);
  std::vector<Tensor> results =
      step.passes ? std::vector<Tensor>{tensors.front()} : TRY(runNode(step.node, pointers, stop));
  if (disturbed) work.disturbance->disturbResults(step.node, results);
  for (std::size_t i = 0; i < step.results.size() && i < results.size(); ++i)
    if (step.results[i].wanted) keep(step.results[i], results[i], work);
  return Done{};
}

Result<std::vector<Tensor>> ReferenceNodes::run(std::span<const Tensor> inputs, std::span<const Tensor> constants,
                                                const StopToken& stop, Disturbance* disturbance) const {
  Work work{.stored = inputs, .constants = constants, .disturbance = disturbance};
  for (std::size_t i = 0; i < inputs.size(); ++i)
    work.given.push_back(convertedTensor(inputs[i], mathType(inputs[i].type(), m_declared[i])));
  work.inner.resize(m_innerCount);
  work.results.resize(m_innerCount);
  work.outputs.resize(m_outputTypes.size());
  for (const NodeStep& step : m_steps) TRY(runStep(step, work, stop));
  return std::move(work.outputs);
}

}  // namespace fusescope
