#include "planning/describe.h"

#include <algorithm>
#include <unordered_set>

#include "analysis/cost.h"
#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "planning/fusion/match.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns the accumulate type: f32 for floats, or their own type if it is wider; 32 bits for 8-bit integers; otherwise
/// the type itself.
DataType accumulateType(DataType compute) {
  if (isByteInteger(compute)) return DataType::I32;
  return isFloat(compute) && compute != DataType::F64 ? DataType::F32 : compute;
}

/// Returns whether the node is a Cast of the author to a wider float. Its kernel reads what is in memory and widens it
/// exactly.
bool widens(const Graph& graph, const Node& node) {
  return isFloatCast(graph, node) && !rounds(graph, node);
}

}  // namespace

RegionDescriber::RegionDescriber(const Model& model, const Structure& structure, const Typing& typing)
    : m_graph(*model.graph),
      m_structure(structure),
      m_typing(typing),
      m_inside(model.graph->nodeIdLimit(), 0),
      m_identities(model) {}

std::string RegionDescriber::nameOf(const Region& region) const {
  std::string name;
  for (const NodeId node : region.nodes) name += (name.empty() ? "" : " + ") + m_graph.node(node).name;
  return name;
}

FusedNode RegionDescriber::describe(const Region& region) {
  ++m_mark;
  for (const NodeId node : region.nodes) m_inside[node.index] = m_mark;
  FusedNode fused;
  fused.kind = region.kind;
  if (region.nodes.size() > 1) fused.rule = region.rule;
  fused.root = region.root;
  fused.nodes = region.nodes;
  fused.segment = m_structure.partition.segmentOf[region.root.index];
  fused.bindings = region.bindings;
  fused.oneType = region.oneType;
  for (const NodeId node : region.nodes) {
    const auto& origins = m_graph.node(node).origins;
    fused.origins.insert(fused.origins.end(), origins.begin(), origins.end());
  }
  sortDistinct(fused.origins);
  fused.identity = m_identities.of(fused.nodes, fused.origins);
  setTypes(region, fused);
  setValues(fused);
  narrowProbabilities(fused);
  setCosts(fused);
  return fused;
}

void RegionDescriber::setTypes(const Region& region, FusedNode& fused) const {
  fused.compute = m_typing.calculates(region.oneType.empty() ? region.root : region.oneType.front());
  for (auto node = region.nodes.rbegin(); node != region.nodes.rend() && fused.compute == DataType::Undefined; ++node)
    fused.compute = m_typing.calculates(*node);
  const ValueId result = m_graph.node(region.root).outputs.empty() ? ValueId() : m_graph.node(region.root).outputs[0];
  if (fused.compute == DataType::Undefined && m_typing.moves(region.root) && result.valid())
    fused.compute = accelerated(fused) ? m_typing.stored(result) : m_graph.value(result).type.dtype;
  if (fused.compute == DataType::Undefined) fused.compute = m_structure.facts[region.root.index].natural;
  fused.accumulate = accumulateType(fused.compute);
}

bool RegionDescriber::usedInside(ValueId value) const {
  return std::ranges::any_of(m_graph.value(value).consumers, [&](NodeId user) { return inside(user); });
}

bool RegionDescriber::leaves(ValueId value) const {
  const auto& users = m_graph.value(value).consumers;
  return m_graph.isOutput(value) || users.empty() ||
         std::ranges::any_of(users, [&](NodeId user) { return !inside(user); });
}

void RegionDescriber::setValues(FusedNode& fused) const {
  std::unordered_set<ValueId> known;
  for (const NodeId node : fused.nodes) {
    for (const ValueId value : valuesRead(m_graph.node(node))) {
      const Value& read = m_graph.value(value);
      const bool outside = !read.producer.valid() || !inside(read.producer);
      if (outside && read.constant == nullptr && known.insert(value).second) fused.inputs.push_back(value);
    }
    for (const ValueId value : m_graph.node(node).outputs)
      if (value.valid()) placeOutput(fused, value);
  }
  for (const ValueId value : fused.inputs) fused.reads.push_back(readTypeOf(fused, value));
}

void RegionDescriber::placeOutput(FusedNode& fused, ValueId value) const {
  const bool real = leaves(value);
  const DataType type = accelerated(fused) ? m_typing.stored(value) : m_graph.value(value).type.dtype;
  if (real) fused.outputs.push_back({value, type});
  if (usedInside(value)) fused.innerEdges.push_back({value, real, real ? type : heldAt(value, type)});
}

/// Returns the type of an inner value: f32, except for narrow floats that the author's Casts read and write.
DataType RegionDescriber::heldAt(ValueId value, DataType stored) const {
  if (!isExchangeable(stored)) return stored;
  const bool narrow = isNarrow(m_structure.truncation.types[value.index]) && isNarrow(stored);
  const auto& users = m_graph.value(value).consumers;
  const bool ofCast = m_graph.node(m_graph.value(value).producer).is("Cast") ||
                      std::ranges::any_of(users, [&](NodeId user) { return m_graph.node(user).is("Cast"); });
  return narrow && ofCast ? stored : DataType::F32;
}

/// Attention keeps scores and probabilities in its accumulate type; only the operand of the second product is narrowed.
void RegionDescriber::narrowProbabilities(FusedNode& fused) const {
  const Binding* product = findBinding(fused.bindings, roles::kProduct);
  if (product == nullptr || !inside(product->node)) return;
  const ValueId probabilities = m_graph.node(product->node).input(0);
  for (InnerEdge& edge : fused.innerEdges)
    if (edge.value == probabilities && !edge.real && isExchangeable(edge.type))
      edge.type = narrower(edge.type, m_typing.calculates(product->node));
}

/// Collects the types in which nodes of the region read a value, through nodes that only move it.
void RegionDescriber::collectReads(ValueId value, std::vector<DataType>& types) const {
  for (const NodeId user : m_graph.value(value).consumers) {
    if (!inside(user)) continue;
    const Node& node = m_graph.node(user);
    if (hasBody(node)) {  // bodies read the types that they declare
      types.push_back(m_structure.truncation.types[value.index]);
      continue;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != value) continue;
      const DataType type = m_typing.readType(node, i);
      const DataType casts = rounds(m_graph, node) ? m_typing.stored(node.outputs.front()) : DataType::Undefined;
      if (type != DataType::Undefined || !m_typing.moves(user) || isNarrow(casts) || widens(m_graph, node)) {
        types.push_back(type != DataType::Undefined ? type : isNarrow(casts) ? casts : m_typing.stored(value));
        continue;
      }
      for (const ValueId result : node.outputs) {
        if (!result.valid()) continue;
        if (leaves(result)) types.push_back(m_typing.stored(result));
        collectReads(result, types);
      }
    }
  }
}

/// Returns the common type in which all readers inside want the value. If they differ, it is the stored type, and each
/// reader rounds what it reads.
DataType RegionDescriber::readTypeOf(const FusedNode& fused, ValueId value) const {
  const DataType own = m_graph.value(value).type.dtype;
  if (!accelerated(fused)) return own;
  const DataType truncated = m_structure.truncation.types[value.index];
  if (!isExchangeable(truncated)) return truncated;
  std::vector<DataType> types;
  collectReads(value, types);
  sortDistinct(types);
  const DataType stored = m_typing.stored(value);
  if (types.size() == 1) return types.front();
  return isExchangeable(stored) ? stored : truncated;
}

/// Collects the results of readers of parts of `value`, including those after its dequantiser. Returns false if a node
/// reads all of it.
bool RegionDescriber::collectParts(ValueId value, std::vector<ValueId>& parts) const {
  for (const NodeId user : m_graph.value(value).consumers) {
    if (!inside(user)) continue;
    const Node& node = m_graph.node(user);
    if (readsExtentsOnly(node)) continue;
    const ValueId made = node.outputs.front();
    const bool dequantizes = node.is("DequantizeLinear") && node.input(0) == value && !leaves(made);
    if (readsPart(node, value)) {
      parts.push_back(made);
    } else if (!dequantizes || !collectParts(made, parts)) {
      return false;
    }
  }
  return true;
}

std::optional<std::int64_t> RegionDescriber::bytesRead(const ChosenExtents& extents, ValueId value,
                                                       DataType type) const {
  const auto whole = bytesOfValue(extents, value, type);
  std::vector<ValueId> parts;
  if (!collectParts(value, parts)) return whole;
  std::int64_t bytes = 0;
  for (const ValueId made : parts) {
    const auto part = bytesOfValue(extents, made, type);
    if (!part) return std::nullopt;
    bytes += *part;
  }
  return whole ? std::min(*whole, bytes) : bytes;
}

CostAt RegionDescriber::costsAt(const ChosenExtents& extents, const FusedNode& fused) const {
  CostAt costs{.flops = 0, .bytes = 0, .ms = {}};
  const auto add = [](std::optional<std::int64_t>& sum, const std::optional<std::int64_t>& more) {
    sum = knownSum(sum, more);
  };
  std::unordered_set<ValueId> constants;
  for (const NodeId node : fused.nodes) {
    add(costs.flops, flopsOfNode(extents, m_graph.node(node)));
    for (const ValueId value : valuesRead(m_graph.node(node)))
      if (m_graph.isConstant(value) && constants.insert(value).second)
        add(costs.bytes, bytesRead(extents, value, readTypeOf(fused, value)));
  }
  for (std::size_t i = 0; i < fused.inputs.size(); ++i)
    add(costs.bytes, bytesRead(extents, fused.inputs[i], fused.reads[i]));
  for (const FusedOutput& output : fused.outputs) add(costs.bytes, bytesOfValue(extents, output.value, output.type));
  return costs;
}

void RegionDescriber::setCosts(FusedNode& fused) const {
  const CostAt usual = costsAt(*m_structure.usual, fused);
  fused.flops = usual.flops;
  fused.bytes = usual.bytes;
  if (m_structure.least != nullptr)
    fused.range = CostRange{costsAt(*m_structure.least, fused), costsAt(*m_structure.most, fused)};
}

}  // namespace fusescope
