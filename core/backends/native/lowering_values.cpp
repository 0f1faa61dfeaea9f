#include <algorithm>

#include "backends/native/lowering.h"
#include "backends/native/narrow_floats.h"
#include "ops/op_schema.h"
#include "planning/fusion/match.h"

// What the nodes of a fused node read and write: constants, extents, types, and who reads what.
namespace fusescope::native {

bool Lowering::isReshape(const Node& node) {
  return node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Identity");
}

bool Lowering::onlyMoves(const Node& node) {
  static const std::set<std::string, std::less<>> kMoves = {"Transpose", "Reshape",  "Flatten", "Squeeze",
                                                            "Unsqueeze", "Identity", "Slice",   "Split",
                                                            "Expand",    "Concat",   "Gather"};
  return node.domain.empty() && kMoves.contains(node.op);
}

const Tensor* Lowering::constant(ValueId value) const {
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

Weight Lowering::rawWeight(ValueId value) const {
  const auto folded = m_folded.find(value);
  return folded != m_folded.end() ? folded->second : slotWeight(m_slots.at(value), m_request.constants.at(value));
}

Weight Lowering::weight(ValueId value) const {
  const DataType type = readType(value);
  return type == DataType::Undefined ? rawWeight(value) : roundedWeight(rawWeight(value), type);
}

Ref Lowering::packedRef(const Dims& dims, Packing packing) {
  return {.buffer = m_program.addPacked(std::move(packing)),
          .dtype = DataType::F32,
          .dims = dims,
          .strides = rowMajorStrides(dims)};
}

std::optional<float> Lowering::constantNumber(ValueId value) const {
  if (!isConstant(value) || elementCount(constantDims(value)) != 1) return std::nullopt;
  const Tensor* tensor = constant(value);
  if (tensor == nullptr || !tensor->hasData()) return std::nullopt;
  return static_cast<float>(tensor->asDouble(0));
}

const Dims& Lowering::constantDims(ValueId value) const {
  const auto folded = m_folded.find(value);
  return folded != m_folded.end() ? folded->second.dims : m_request.constants.at(value).dims();
}

DataType Lowering::constantType(ValueId value) const {
  const auto folded = m_folded.find(value);
  return folded != m_folded.end() ? folded->second.type : m_request.constants.at(value).type();
}

Dims Lowering::dimsOf(ValueId value) const {
  const auto it = m_request.values.find(value);
  if (it != m_request.values.end()) return it->second.dims;
  return isConstant(value) ? constantDims(value) : Dims{};
}

// Floats are f32 inside a program, whatever they are outside, unless the program only moves elements.
DataType Lowering::typeOf(ValueId value) const {
  if (const auto held = m_heldCodes.find(value); held != m_heldCodes.end()) return held->second.type;
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

DataType Lowering::readType(ValueId value) const {
  if (m_kept != DataType::Undefined) return DataType::Undefined;
  const bool byReader = m_rounding.differs() || m_rounding.isApart(value);
  return byReader && m_reader.valid() ? m_rounding.readBy(m_reader, value) : m_rounding.read(value);
}

Result<Ref> Lowering::held(ValueId value) {
  if (const auto it = m_refs.find(value); it != m_refs.end()) return it->second;
  if (const auto it = m_views.find(value); it != m_views.end()) {
    if (auto seen = it->second.ref()) return m_refs[value] = std::move(*seen);
    const Ref from = it->second.split(), whole = allocate(value, MemoryFormat(), from.dtype);
    Ref to = whole;
    to.dims = from.dims;
    to.strides = rowMajorStrides(to.dims);
    copyStrided(from, to);
    return m_refs[value] = whole;
  }
  if (!isConstant(value)) {
    return Diagnostic{.message = "a constant has no data",
                      .where = {.node = m_fused.name, .value = m_graph.has(value) ? m_graph.value(value).name : ""},
                      .help = "The model was saved without its weights; it can be planned, not built."};
  }
  const auto key = std::pair(value, readType(value));
  if (const auto it = m_constantRefs.find(key); it != m_constantRefs.end()) return it->second;
  const DataType type = typeOf(value);
  const Dims dims = dimsOf(value);
  Ref ref{.dtype = type, .dims = dims, .strides = rowMajorStrides(dims)};
  ref.buffer = m_program.addPacked(plainPacking(weight(value), type));
  m_constantRefs[key] = ref;
  return ref;
}

DataType Lowering::narrowTypeOf(ValueId constant) const {
  const DataType read = readType(constant), own = constantType(constant), held = m_rounding.holds(constant);
  return isNarrow(read) ? read : isNarrow(held) ? held : isNarrow(own) ? own : DataType::Undefined;
}

Result<Ref> Lowering::narrowConstant(ValueId value, DataType type) {
  Ref& at = m_narrowConstants[{value, type}];
  if (at.buffer == kNoBuffer) {
    at = {.dtype = type, .dims = dimsOf(value), .strides = rowMajorStrides(dimsOf(value))};
    at.buffer = m_program.addPacked(plainPacking(rawWeight(value), type));
  }
  return at;
}

Result<Ref> Lowering::seen(ValueId value) {
  if (isUntouchedConstant(value) && narrowTypeOf(value) != DataType::Undefined)
    return narrowConstant(value, narrowTypeOf(value));
  Ref at = TRY(held(value));
  if (m_kept != DataType::Undefined || !m_refs.contains(value)) return at;
  for (const DataType type : {m_rounding.made(value), readType(value)}) {
    if (type == DataType::Undefined || at.dtype == type) continue;
    Ref& kept = m_roundedRefs[{value, type}];
    if (kept.buffer == kNoBuffer) kept = TRY(rounded(isNarrow(at.dtype) ? TRY(widened(at)) : at, type));
    at = kept;
  }
  return at;
}

DataType Lowering::seenType(ValueId value) const {
  if (isUntouchedConstant(value)) {
    const DataType narrow = narrowTypeOf(value);
    return narrow != DataType::Undefined ? narrow : typeOf(value);
  }
  const auto at = m_refs.find(value);
  const auto view = m_views.find(value);
  const DataType held = at != m_refs.end()      ? at->second.dtype
                        : view != m_views.end() ? view->second.type()
                                                : DataType::F32;
  for (const DataType type : {m_rounding.made(value), readType(value)})
    if (type != DataType::Undefined && type != held) return DataType::F32;
  return held;
}

Result<Ref> Lowering::ref(ValueId value) {
  if (isUntouchedConstant(value)) return held(value);
  const Ref at = TRY(seen(value));
  if (m_kept != DataType::Undefined || !isNarrow(at.dtype)) return at;
  Ref& kept = m_wideRefs[value];
  if (kept.buffer == kNoBuffer) kept = TRY(widened(at));
  return kept;
}

Result<std::optional<Ref>> Lowering::narrowed(ValueId value, DataType type) {
  const Ref at = TRY(seen(value));
  if (at.dtype == type) return std::optional(at);
  if (at.dtype != DataType::F32 || (m_rounding.made(value) != type && readType(value) != type))
    return std::optional<Ref>();
  const Ref narrow = allocateScratch(type, at.dims);
  TRY(convertType(at, narrow));
  return std::optional(narrow);
}

std::vector<NodeId> Lowering::consumers(ValueId value) const {
  std::vector<NodeId> inside;
  for (NodeId id : m_graph.value(value).consumers) {
    if (m_members.contains(id)) inside.push_back(id);
  }
  return inside;
}

std::optional<NodeId> Lowering::onlyConsumer(ValueId value) const {
  if (!value.valid() || isFusedOutput(value)) return std::nullopt;
  const std::vector<NodeId> inside = consumers(value);
  return inside.size() == 1 ? std::optional(inside[0]) : std::nullopt;
}

std::optional<NodeId> Lowering::producer(ValueId value) const {
  if (!value.valid() || !m_graph.has(value)) return std::nullopt;
  const NodeId id = m_graph.value(value).producer;
  return id.valid() && m_members.contains(id) ? std::optional(id) : std::nullopt;
}

std::set<NodeId> Lowering::between(ValueId from, ValueId to) const {
  std::set<NodeId> behind, before;
  for (const NodeId id : m_fused.nodes) {
    const bool follows = std::ranges::any_of(node(id).inputs, [&](ValueId input) {
      const auto made = producer(input);
      return input == from || (made && behind.contains(*made));
    });
    if (follows) behind.insert(id);
  }
  const auto last = producer(to);
  if (!last || !behind.contains(*last)) return {};
  before.insert(*last);
  for (auto id = m_fused.nodes.rbegin(); id != m_fused.nodes.rend(); ++id) {
    if (!before.contains(*id)) continue;
    for (const ValueId input : node(*id).inputs)
      if (const auto made = producer(input); made && behind.contains(*made)) before.insert(*made);
  }
  return before;
}

bool Lowering::leavesOnly(const std::set<NodeId>& nodes, ValueId result) const {
  return std::ranges::all_of(nodes, [&](NodeId id) {
    return std::ranges::all_of(node(id).outputs, [&](ValueId value) {
      return !value.valid() || value == result ||
             (!isFusedOutput(value) &&
              std::ranges::all_of(consumers(value), [&](NodeId user) { return nodes.contains(user); }));
    });
  });
}

void Lowering::foldConstants() {
  for (const NodeId id : m_fused.nodes) {
    const Node& folded = node(id);
    const bool folds = folded.is("DequantizeLinear") || isFloatCast(m_graph, folded) || onlyMoves(folded);
    if (!folds || folded.outputs.size() != 1 || isFusedOutput(folded.outputs[0])) continue;
    const auto reader = onlyConsumer(folded.outputs[0]);
    if (reader && node(*reader).is("Gather") && dequantizedTable(node(*reader)) == &folded) {
      m_absorbed.insert(id);
      continue;
    }
    const auto known = [&](ValueId input) { return !input.valid() || isConstant(input); };
    if (!std::ranges::all_of(folded.inputs, known)) continue;
    std::vector<Weight> operands;
    for (const ValueId input : folded.inputs) operands.push_back(input.valid() ? weight(input) : Weight());
    const ValueId result = folded.outputs[0];
    const TensorDesc& desc = m_request.values.at(result);
    Weight weight = isFloatCast(m_graph, folded)
                        ? std::move(operands.front())
                        : calculatedWeight(folded, std::move(operands), m_graph.value(result).type.dtype, desc.dims);
    const DataType rounds = m_rounding.rounds(result);
    m_folded[result] = rounds == DataType::Undefined ? std::move(weight) : roundedWeight(std::move(weight), rounds);
    m_absorbed.insert(id);
  }
}

}  // namespace fusescope::native
