#include "backends/native/lowering/region_facts.h"

#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "ops/op_schema.h"
#include "planning/fusion/match.h"

namespace fusescope::native {
namespace {

/// Returns whether the node only moves elements, regardless of their type.
bool onlyMoves(const Node& node) {
  static const std::set<std::string, std::less<>> kMoves = {"Transpose", "Reshape",  "Flatten", "Squeeze",
                                                            "Unsqueeze", "Identity", "Slice",   "Split",
                                                            "Expand",    "Concat",   "Gather"};
  return node.domain.empty() && kMoves.contains(node.op);
}

}  // namespace

bool isReshape(const Node& node) {
  return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Identity");
}

std::vector<std::int64_t> orderBeforeLast(const Node& node) {
  std::vector<std::int64_t> order;
  if (node.is("Transpose")) order = node.intsAttribute("perm");
  const bool keepsLast = !order.empty() && order.back() == static_cast<std::int64_t>(order.size()) - 1;
  return keepsLast ? order : std::vector<std::int64_t>();
}

DataType keptType(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  const FusedNode& fused = *request.fused;
  if (!std::ranges::all_of(fused.nodes, [&](NodeId id) { return onlyMoves(graph.node(id)); }))
    return DataType::Undefined;
  std::set<DataType> floats;
  const auto note = [&](DataType type) {
    if (isFloat(type)) floats.insert(type);
  };
  for (const ValueId input : fused.inputs) note(request.values.at(input).dtype);
  for (const FusedOutput& output : fused.outputs) note(request.values.at(output.value).dtype);
  for (const InnerEdge& edge : fused.innerEdges)
    if (edge.real) note(edge.type);
  for (const auto& [value, tensor] : request.constants) note(tensor.type());
  return floats.size() == 1 ? *floats.begin() : DataType::Undefined;
}

RegionFacts::RegionFacts(const KernelRequest& request, LoweringOptions options)
    : m_request(request),
      m_graph(request.plan->graph()),
      m_fused(*request.fused),
      m_kept(keptType(request)),
      m_rounding(request),
      m_options(std::move(options)),
      m_threads(std::max(1, request.threads)),
      m_members(m_fused.nodes.begin(), m_fused.nodes.end()),
      m_extents(fusescope::extentsOf(request)) {
  const auto place = [&](ValueId value, ExtentSource::From from, std::size_t at) {
    m_places[value] = {.from = from, .at = at};
  };
  const std::vector<ValueId> inner = innerValues(request);
  for (std::size_t i = 0; i < inner.size(); ++i) place(inner[i], ExtentSource::From::Inner, i);
  for (std::size_t i = 0; i < m_fused.outputs.size(); ++i) {
    m_outputIndex[m_fused.outputs[i].value] = i;
    place(m_fused.outputs[i].value, ExtentSource::From::Output, i);
  }
  for (std::size_t i = 0; i < m_fused.inputs.size(); ++i) place(m_fused.inputs[i], ExtentSource::From::Input, i);
  for (std::size_t i = 0; i < request.weightSlots.size(); ++i) m_slots[request.weightSlots[i]] = i;
}

bool RegionFacts::isRounded(ValueId value) const {
  return m_kept == DataType::Undefined &&
         (m_rounding.made(value) != DataType::Undefined || readType(value) != DataType::Undefined);
}

ExtentSource RegionFacts::extentsOf(ValueId value) const {
  const auto it = m_places.find(value);
  return it != m_places.end() ? it->second : ExtentSource{.constant = dimsOf(value)};
}
std::optional<float> RegionFacts::numberReadBy(NodeId reader, ValueId value) {
  const NodeId before = std::exchange(m_reader, reader);
  const std::optional<float> number = constantNumber(value);
  m_reader = before;
  return number;
}

std::optional<std::size_t> RegionFacts::outputIndex(ValueId value) const {
  const auto found = m_outputIndex.find(value);
  return found == m_outputIndex.end() ? std::nullopt : std::optional(found->second);
}

const Tensor* RegionFacts::constant(ValueId value) const {
  if (!isConstant(value)) return nullptr;
  const DataType type = readType(value);
  if (!m_folded.contains(value) && type == DataType::Undefined) {
    m_embedded.insert(m_slots.at(value));
    return &m_request.constants.at(value);
  }
  const Weight read = weight(value);
  m_embedded.insert(read.weightSlots.begin(), read.weightSlots.end());
  const auto key = std::pair(value, type);
  if (const auto known = m_numbers.find(key); known != m_numbers.end()) return &known->second;
  std::vector<Tensor> sources;
  for (const std::size_t slot : read.weightSlots)
    sources.push_back(m_request.constants.at(m_request.weightSlots[slot]));
  auto numbers = read.numbers(sources);
  return numbers.ok() ? &(m_numbers[key] = std::move(numbers).value()) : nullptr;
}

Weight RegionFacts::rawWeight(ValueId value) const {
  const auto folded = m_folded.find(value);
  return folded != m_folded.end() ? folded->second : slotWeight(m_slots.at(value), m_request.constants.at(value));
}

Weight RegionFacts::weight(ValueId value) const {
  const DataType type = readType(value);
  return type == DataType::Undefined ? rawWeight(value) : roundedWeight(rawWeight(value), type);
}

std::optional<float> RegionFacts::constantNumber(ValueId value) const {
  if (!isConstant(value) || elementCount(constantDims(value)) != 1) return std::nullopt;
  const Tensor* tensor = constant(value);
  if (tensor == nullptr || !tensor->hasData()) return std::nullopt;
  return static_cast<float>(tensor->asDouble(0));
}

const Dims& RegionFacts::constantDims(ValueId value) const {
  const auto folded = m_folded.find(value);
  return folded != m_folded.end() ? folded->second.dims : m_request.constants.at(value).dims();
}

DataType RegionFacts::constantType(ValueId value) const {
  const auto folded = m_folded.find(value);
  return folded != m_folded.end() ? folded->second.type : m_request.constants.at(value).type();
}

Dims RegionFacts::dimsOf(ValueId value) const {
  const auto it = m_request.values.find(value);
  if (it != m_request.values.end()) return it->second.dims;
  return isConstant(value) ? constantDims(value) : Dims{};
}

// Inside a program floats are f32, regardless of their type outside, unless the program only moves elements.
DataType RegionFacts::typeOf(ValueId value) const {
  if (const auto held = m_keptTypes.find(value); held != m_keptTypes.end()) return held->second;
  const auto it = m_request.values.find(value);
  DataType type = DataType::Undefined;
  if (it != m_request.values.end()) {
    type = it->second.dtype;
  } else if (isConstant(value)) {
    type = constantType(value);
  }
  if (!isFloat(type)) return type;
  return m_kept != DataType::Undefined ? m_kept : DataType::F32;
}

DataType RegionFacts::readType(ValueId value) const {
  if (m_kept != DataType::Undefined) return DataType::Undefined;
  const bool byReader = m_rounding.differs() || m_rounding.isRoundedByReader(value);
  return byReader && m_reader.valid() ? m_rounding.readBy(m_reader, value) : m_rounding.read(value);
}

DataType RegionFacts::narrowTypeOf(ValueId constant) const {
  const DataType read = readType(constant), own = constantType(constant), held = m_rounding.holds(constant);
  return isNarrow(read) ? read : isNarrow(held) ? held : isNarrow(own) ? own : DataType::Undefined;
}

DataType RegionFacts::declaredType(ValueId value) const {
  return m_graph.value(value).type.dtype;
}

bool RegionFacts::castsFloats(const Node& node) const {
  return isFloatCast(m_graph, node);
}

std::vector<NodeId> RegionFacts::readers(ValueId value) const {
  std::vector<NodeId> inside;
  for (const NodeId id : m_graph.value(value).consumers)
    if (isMember(id)) inside.push_back(id);
  return inside;
}

std::optional<NodeId> RegionFacts::onlyReader(ValueId value) const {
  if (!value.valid() || isFusedOutput(value)) return std::nullopt;
  const std::vector<NodeId> inside = readers(value);
  return inside.size() == 1 ? std::optional(inside[0]) : std::nullopt;
}

void RegionFacts::foldConstants() {
  for (const NodeId id : m_fused.nodes) {
    const Node& folded = node(id);
    const bool folds = folded.is("DequantizeLinear") || castsFloats(folded) || onlyMoves(folded);
    if (!folds || folded.outputs.size() != 1 || isFusedOutput(folded.outputs[0])) continue;
    const auto known = [&](ValueId input) { return !input.valid() || isConstant(input); };
    if (!std::ranges::all_of(folded.inputs, known)) continue;
    std::vector<Weight> operands;
    for (const ValueId input : folded.inputs) operands.push_back(input.valid() ? weight(input) : Weight());
    const ValueId result = folded.outputs[0];
    const TensorDesc& desc = m_request.values.at(result);
    Weight weight = castsFloats(folded)
                        ? std::move(operands.front())
                        : calculatedWeight(folded, std::move(operands), m_graph.value(result).type.dtype, desc.dims);
    const DataType rounds = m_rounding.rounds(result);
    m_folded[result] = rounds == DataType::Undefined ? std::move(weight) : roundedWeight(std::move(weight), rounds);
    m_foldedNodes.insert(id);
  }
}

}  // namespace fusescope::native
