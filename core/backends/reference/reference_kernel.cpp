#include "backends/reference/reference_kernel.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "backends/reference/convert_elements.h"
#include "ops/exact_types.h"
#include "ops/op_schema.h"

namespace fusescope {
namespace {

/// The type that node math runs in for an operand stored as `type`: float32 stands for every narrower float. What the
/// network itself declares as floats of a byte and less stays as it is: such are only moved and converted.
DataType mathType(DataType type, DataType declared) {
  const bool isStorage = bitWidth(type) <= 8 && type == declared;
  return isFloat(type) && type != DataType::F64 && !isStorage ? DataType::F32 : type;
}

bool isNarrowFloat(DataType type) {
  return isFloat(type) && bitWidth(type) <= 16;
}

Tensor convertedTensor(const Tensor& tensor, DataType to) {
  if (tensor.type() == to || tensor.type() == DataType::String || to == DataType::Undefined) return tensor;
  Tensor result = Tensor::zeros(to, tensor.dims());
  convertElements(tensor.type(), tensor.bytes(), to, result.mutableBytes(), tensor.count());
  return result;
}

/// A float32 tensor rounded to `type`; other tensors and wider types as they are.
Tensor roundedTensor(const Tensor& tensor, DataType type) {
  const bool narrows = isFloat(type) && type != DataType::F32 && type != DataType::F64;
  if (!narrows || tensor.type() != DataType::F32) return tensor;
  Tensor result = Tensor::zeros(DataType::F32, tensor.dims());
  std::memcpy(result.mutableBytes(), tensor.bytes(), tensor.byteSize());
  roundElements(type, result.mutableData<float>().data(), result.count());
  return result;
}

/// int64 to int32 at the ends of the range instead of wrapping: what a truncation allows for operands that saturate.
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

/// Whether operand `i` of a node is data that the compute type applies to. Scales of a Resize or a quantisation say
/// how, not what; they keep their precision.
bool isRoundedOperand(const Node& node, std::size_t i) {
  if (node.is("Resize") || node.is("Upsample")) return i == 0;
  if (node.is("QuantizeLinear") || node.is("DequantizeLinear")) return i == 0;
  return !node.is("Range");
}

/// Operators whose operands of one declared type must arrive at one type.
bool wantsEqualOperands(const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr) return false;
  return schema->kind == OpKind::Elementwise || schema->kind == OpKind::MatMul || node.is("Concat") || node.is("Range");
}

/// Where a node of the fused node finds an operand.
struct Operand {
  enum class From { Absent, Input, Constant, Inner };
  From from = From::Absent;
  std::size_t index = 0;                 ///< of the fused node's input, of the constant, of the inner value
  bool rounded = false;                  ///< to the compute type
  DataType exact = DataType::Undefined;  ///< the narrow float type that the node must see; Undefined: any will do
};

/// What becomes of a node's output.
struct NodeResult {
  bool wanted = false;
  std::size_t inner = 0;                ///< its place among the inner values
  DataType type = DataType::Undefined;  ///< of its consumers' node math; Undefined: as it comes
  DataType declared = DataType::Undefined;
  DataType edge = DataType::Undefined;  ///< rounded to this first, if the edge is real
  std::optional<std::size_t> output;    ///< the fused node's output it is stored in
};

struct NodeStep {
  const Node* node = nullptr;
  std::vector<Operand> operands;
  std::vector<NodeResult> results;
  bool equalOperands = false;
};

class ReferenceKernel final : public Kernel {
 public:
  Status build(const KernelRequest& request);
  Status run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) override;

 private:
  Status addNode(const KernelRequest& request, const Node& node);
  Result<Operand> operandOf(const KernelRequest& request, const Node& node, std::size_t i);
  NodeResult resultOf(const KernelRequest& request, ValueId value);
  Status runStep(const NodeStep& step, std::span<std::byte* const> outputs);
  Status keep(const NodeStep& step, const NodeResult& result, Tensor tensor, std::span<std::byte* const> outputs);
  Tensor fetch(const Operand& operand) const;

  std::shared_ptr<const Model> m_model;  ///< keeps the nodes alive
  std::string m_name;
  DataType m_compute = DataType::Undefined;
  std::vector<TensorDesc> m_inputs, m_outputs;
  std::vector<DataType> m_declared;  ///< of the inputs
  std::vector<Tensor> m_constants;
  std::map<std::tuple<ValueId, bool, DataType>, std::size_t> m_constantIndex;
  std::map<ValueId, std::size_t> m_innerIndex;
  std::vector<Tensor> m_inner;
  std::vector<Tensor> m_results;  ///< the inner values as the nodes gave them
  std::vector<Tensor> m_given;    ///< the inputs of this run, at math types
  std::vector<Tensor> m_stored;   ///< and as they are stored
  std::vector<NodeStep> m_steps;
};

bool isFallback(const KernelRequest& request) {
  const SegmentId segment = request.fused->segment;
  return segment.valid() && request.plan->segments[segment.index].kind == SegmentKind::Fallback;
}

/// What a constant is truncated to for this fused node; fallback segments keep the model's types.
DataType constantType(const KernelRequest& request, ValueId value, DataType own) {
  if (isFallback(request)) return own;
  const auto& truncated = request.plan->truncation.constants;
  const auto found = std::ranges::find(truncated, value, &TruncatedValue::value);
  return found == truncated.end() ? own : found->to;
}

Result<Operand> ReferenceKernel::operandOf(const KernelRequest& request, const Node& node, std::size_t i) {
  const ValueId id = node.inputs[i];
  if (!id.valid()) return Operand{};
  const bool rounded = isRoundedOperand(node, i);
  const Value& value = request.plan->graph().value(id);
  const DataType declared = value.type.dtype;
  const DataType exact = needsExactTypes(node) && isNarrowFloat(declared) ? declared : DataType::Undefined;
  const auto given = std::ranges::find(request.fused->inputs, id);
  if (given != request.fused->inputs.end())
    return Operand{Operand::From::Input, static_cast<std::size_t>(given - request.fused->inputs.begin()), rounded,
                   exact};
  if (const auto inner = m_innerIndex.find(id); inner != m_innerIndex.end()) {
    return Operand{Operand::From::Inner, inner->second, rounded, exact};
  }
  const auto constant = request.constants.find(id);
  if (constant == request.constants.end() || !constant->second.hasData())
    return Diagnostic{.message = "reads a value without data", .where = {.node = node.name, .value = value.name}};
  const auto [entry, isNew] = m_constantIndex.emplace(std::tuple(id, rounded, exact), m_constants.size());
  if (isNew) {
    const DataType type = constantType(request, id, constant->second.type());
    const DataType wanted = exact == DataType::Undefined ? mathType(type, declared) : exact;
    const Tensor math = convertedTensor(truncatedConstant(constant->second, type), wanted);
    m_constants.push_back(rounded ? roundedTensor(math, m_compute) : math);
  }
  return Operand{Operand::From::Constant, entry->second, false};
}

NodeResult ReferenceKernel::resultOf(const KernelRequest& request, ValueId value) {
  NodeResult result{.wanted = value.valid()};
  if (!result.wanted) return result;
  result.inner = m_inner.size();
  result.declared = request.plan->graph().value(value).type.dtype;
  m_innerIndex.emplace(value, result.inner);
  m_inner.emplace_back();
  m_results.emplace_back();
  const FusedNode& fused = *request.fused;
  const auto& produced = request.plan->truncation.produced;
  const auto truncated = std::ranges::find(produced, value, &TruncatedValue::value);
  if (truncated != produced.end() && !isFallback(request)) result.type = mathType(truncated->to, result.declared);
  for (const InnerEdge& edge : fused.innerEdges) {
    if (edge.value != value) continue;
    if (edge.real || !isFloat(edge.type)) result.type = mathType(edge.type, result.declared);
    if (edge.real) result.edge = edge.type;
  }
  for (std::size_t i = 0; i < fused.outputs.size(); ++i)
    if (fused.outputs[i].value == value) result.output = i;
  return result;
}

Status ReferenceKernel::addNode(const KernelRequest& request, const Node& node) {
  const OpSchema* schema = OpRegistry::standard().find(node);
  if (schema == nullptr || !schema->kernel)
    return Diagnostic{.message = "operator " + node.op + " has no kernel",
                      .where = {.node = node.name},
                      .help = "The model can be looked at and planned, but not run here."};
  NodeStep step{.node = &node};
  step.equalOperands = wantsEqualOperands(node);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) step.operands.push_back(TRY(operandOf(request, node, i)));
  for (const ValueId output : node.outputs) step.results.push_back(resultOf(request, output));
  m_steps.push_back(std::move(step));
  return Done{};
}

Status ReferenceKernel::build(const KernelRequest& request) {
  const FusedNode& fused = *request.fused;
  m_model = request.plan->model;
  m_name = fused.name;
  m_compute = fused.compute;
  for (const ValueId input : fused.inputs) {
    m_inputs.push_back(request.values.at(input));
    m_declared.push_back(request.plan->graph().value(input).type.dtype);
  }
  for (const FusedOutput& output : fused.outputs) m_outputs.push_back(request.values.at(output.value));
  m_given.resize(m_inputs.size());
  m_stored.resize(m_inputs.size());
  for (const NodeId id : fused.nodes) TRY(addNode(request, request.plan->graph().node(id)));
  return Done{};
}

Tensor ReferenceKernel::fetch(const Operand& operand) const {
  if (operand.exact != DataType::Undefined && operand.from == Operand::From::Input)
    return convertedTensor(m_stored[operand.index], operand.exact);
  if (operand.exact != DataType::Undefined && operand.from == Operand::From::Inner)
    return convertedTensor(m_results[operand.index], operand.exact);
  switch (operand.from) {
    case Operand::From::Absent:
      return {};
    case Operand::From::Constant:
      return m_constants[operand.index];
    case Operand::From::Input:
      return operand.rounded ? roundedTensor(m_given[operand.index], m_compute) : m_given[operand.index];
    case Operand::From::Inner:
      return m_inner[operand.index];
  }
  return {};
}

/// Operands that the graph declares at one wide type and of which the plan narrowed some: all become narrow.
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

Status ReferenceKernel::keep(const NodeStep& step, const NodeResult& result, Tensor tensor,
                             std::span<std::byte* const> outputs) {
  if (tensor.type() == DataType::String)
    return Diagnostic{.message = "makes text, which engines cannot hold", .where = {.node = step.node->name}};
  if (result.output) {
    const TensorDesc& desc = m_outputs[*result.output];
    if (tensor.dims() != desc.dims)
      return Diagnostic{
          .message = "gave extents " + toText(tensor.dims()) + " where " + toText(desc.dims) + " were inferred",
          .where = {.node = step.node->name}};
    convertElements(tensor.type(), tensor.bytes(), desc.dtype, outputs[*result.output], tensor.count());
  }
  const DataType type = result.type != DataType::Undefined ? result.type : mathType(tensor.type(), result.declared);
  m_results[result.inner] = tensor;
  m_inner[result.inner] = roundedTensor(convertedTensor(tensor, type), result.edge);
  return Done{};
}

Status ReferenceKernel::runStep(const NodeStep& step, std::span<std::byte* const> outputs) {
  std::vector<Tensor> tensors;
  for (const Operand& operand : step.operands) tensors.push_back(fetch(operand));
  if (step.equalOperands) equaliseOperands(tensors);
  std::vector<const Tensor*> pointers;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    pointers.push_back(step.operands[i].from == Operand::From::Absent ? nullptr : &tensors[i]);
  std::vector<Tensor> results = TRY(runNode(*step.node, pointers));
  for (std::size_t i = 0; i < step.results.size() && i < results.size(); ++i)
    if (step.results[i].wanted) TRY(keep(step, step.results[i], std::move(results[i]), outputs));
  return Done{};
}

Status ReferenceKernel::run(std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs, std::byte*) {
  for (std::size_t i = 0; i < m_inputs.size(); ++i) {
    const Tensor stored = Tensor::view(m_inputs[i].dtype, m_inputs[i].dims, nullptr, inputs[i]);
    m_given[i] = convertedTensor(stored, mathType(stored.type(), m_declared[i]));
    m_stored[i] = stored;
  }
  for (const NodeStep& step : m_steps) TRY(runStep(step, outputs));
  std::ranges::fill(m_given, Tensor());
  std::ranges::fill(m_stored, Tensor());
  std::ranges::fill(m_inner, Tensor());
  std::ranges::fill(m_results, Tensor());
  return Done{};
}

}  // namespace

Result<std::unique_ptr<Kernel>> prepareReferenceKernel(const KernelRequest& request) {
  auto kernel = std::make_unique<ReferenceKernel>();
  TRY(kernel->build(request));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace fusescope
