#include <algorithm>

#include "analysis/users.h"
#include "ops/exact_types.h"
#include "ops/op_schema.h"
#include "planning/fusion/match.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

/// Returns whether nodes calculate in the type. Floats of one byte or less are only stored and converted.
bool calculatesIn(DataType type) {
  return isFloat(type) && bitWidth(type) >= 16;
}

class FactFinder {
 public:
  FactFinder(const Graph& graph, const Partitioning& partition, const Truncation& truncation)
      : m_graph(graph), m_partition(partition), m_truncation(truncation), m_facts(graph.nodeIdLimit()) {}

  std::vector<NodeFacts> run() {
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      NodeFacts& facts = m_facts[id.index];
      facts.natural = naturalType(node);
      facts.quantised = multipliesCodes(m_graph, node) && accelerated(node);
      facts.moves = movesOnly(node);
      facts.floats = calculatesIn(facts.natural) && !facts.moves && !hasBody(node);  // bodies have facts of their own
      if (facts.natural != DataType::F32 && isExchangeable(facts.natural)) facts.author = NodeFacts::Author::Narrow;
      if (facts.natural == DataType::F32) findCastUp(node, facts);
    }
    return std::move(m_facts);
  }

 private:
  bool accelerated(const Node& node) const {
    const Segment& segment = m_partition.segments[m_partition.segmentOf[node.id.index].index];
    return segment.kind == SegmentKind::Accelerated;
  }

  DataType typeOf(const Node& node, ValueId value) const {
    return accelerated(node) ? m_truncation.types[value.index] : m_graph.value(value).type.dtype;
  }

  bool movesOnly(const Node& node) const {
    if (isFloatCast(m_graph, node) || isView(m_graph, node)) return true;
    const OpSchema* schema = OpRegistry::standard().find(node);
    if (schema == nullptr || node.outputs.empty() || node.inputs.empty()) return false;
    const bool moving = schema->kind == OpKind::Movement || schema->kind == OpKind::View;
    return moving && node.textAttribute("reduction", "none") == "none" && !node.is("BitCast");
  }

  /// Returns the type of the first float output, or else of the first float operand, or else of the first output.
  /// Operators on extents read no elements, and all floats of a product of codes are scales.
  DataType naturalType(const Node& node) const {
    if (multipliesCodes(m_graph, node)) return DataType::I8;
    const OpSchema* schema = OpRegistry::standard().find(node);
    const bool aboutExtents = schema != nullptr && schema->kind == OpKind::Shape && node.op != "ConstantOfShape";
    DataType first = DataType::Undefined;
    for (const ValueId value : node.outputs) {
      if (!value.valid()) continue;
      const DataType type = typeOf(node, value);
      if (calculatesIn(type)) return type;
      if (first == DataType::Undefined) first = type;
    }
    if (aboutExtents || node.is("Cast")) return first;
    for (const ValueId value : node.inputs)
      if (value.valid() && calculatesIn(typeOf(node, value))) return typeOf(node, value);
    return first;
  }

  /// Finds an f32 that comes from a Cast of a narrower float, and what is calculated from it in f32.
  void findCastUp(const Node& node, NodeFacts& facts) const {
    if (isFloatCast(m_graph, node) && m_graph.value(node.input(0)).type.dtype != DataType::F32) {
      facts.author = NodeFacts::Author::CastUp;
      facts.cast = node.id;
      return;
    }
    for (const ValueId value : node.inputs) {
      if (!value.valid() || m_graph.value(value).type.dtype != DataType::F32) continue;
      const NodeId producer = m_graph.value(value).producer;
      if (!producer.valid() || m_facts[producer.index].author != NodeFacts::Author::CastUp) continue;
      facts.author = NodeFacts::Author::CastUp;
      facts.cast = m_facts[producer.index].cast;
      return;
    }
  }

  const Graph& m_graph;
  const Partitioning& m_partition;
  const Truncation& m_truncation;
  std::vector<NodeFacts> m_facts;
};

}  // namespace

bool isExchangeable(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

bool readsExtentsOnly(const Node& node) {
  return node.is("Shape") || node.is("Size");
}

bool isDataOperand(const Node& node, std::size_t i) {
  if (node.is("Resize") || node.is("Upsample")) return i == 0;
  return !node.is("Range") && !isConversionParameter(node, i);
}

std::vector<NodeFacts> nodeFacts(const Graph& graph, const Partitioning& partition, const Truncation& truncation) {
  return FactFinder(graph, partition, truncation).run();
}

std::vector<char> uncalculatedValues(const Graph& graph, const std::vector<NodeFacts>& facts) {
  std::vector<char> given(graph.valueIdLimit(), 0);
  for (const ValueId value : graph.inputs()) given[value.index] = 1;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool moved = facts[id.index].moves && std::ranges::all_of(node.inputs, [&](ValueId value) {
                         return !value.valid() || graph.isConstant(value) || given[value.index] ||
                                !isExchangeable(graph.value(value).type.dtype);
                       });
    for (const ValueId value : node.outputs)
      if (value.valid() && moved) given[value.index] = 1;
  }
  return given;
}

DataType typeToKernel(const Node& node, DataType type) {
  const bool converts = node.is("QuantizeLinear") || node.is("DequantizeLinear");
  return type == DataType::I8 || converts ? DataType::Undefined : type;
}

bool multipliesCodes(const Graph& graph, const Node& node) {
  const bool product =
      node.is("MatMulInteger") || node.is("ConvInteger") || node.is("QLinearMatMul") || node.is("QLinearConv");
  return product && isByteInteger(graph.value(node.input(0)).type.dtype);
}

NodeId quantisedRoot(const Graph& graph, const Region& region) {
  const auto inside = [&](ValueId value) {
    const NodeId producer = value.valid() ? graph.value(value).producer : NodeId();
    return producer.valid() && std::ranges::find(region.nodes, producer) != region.nodes.end();
  };
  const auto dequantised = [&](ValueId value) {
    while (inside(value)) {
      const Node& node = graph.node(graph.value(value).producer);
      if (node.is("DequantizeLinear")) return isByteInteger(graph.value(node.input(0)).type.dtype);
      if (!node.is("Transpose") && !isView(graph, node)) return false;
      value = node.input(0);
    }
    return false;
  };
  const Node& root = graph.node(region.root);
  const bool product = root.is("Conv") || root.is("MatMul") || root.is("Gemm") || root.is("ConvTranspose");
  return product && dequantised(root.input(0)) && dequantised(root.input(1)) ? root.id : NodeId();
}

}  // namespace fusescope
