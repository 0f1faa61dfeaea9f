#include "verify/exact_network.h"

#include <algorithm>
#include <set>

#include "planning/quantized_model.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// The codes from a QuantizeLinear to its DequantizeLinears.
struct CodeEdges {
  std::set<ValueId> values;
  std::set<NodeId> quantizers, dequantizers;
  DataType numbers = DataType::Undefined;  ///< the type of the numbers that are quantised
  bool isClosed = true;                    ///< whether no other nodes write or read these codes
};

/// Finds everything that the codes of `quantizer` reach.
CodeEdges edgesFrom(const Graph& graph, const Node& quantizer) {
  const auto typeOf = [&](ValueId value) { return graph.value(value).type.dtype; };
  CodeReach reach = reachOfCodes(graph, quantizer.outputs[0]);
  CodeEdges edges{.values = std::move(reach.values), .numbers = typeOf(quantizer.input(0))};
  const auto isCode = [&](ValueId value) { return edges.values.contains(value); };
  for (const ValueId value : edges.values)
    edges.isClosed = edges.isClosed && graph.value(value).producer.valid() && !graph.isOutput(value);
  for (const NodeId id : reach.nodes) {
    const Node& node = graph.node(id);
    const bool byCodes = isCode(node.input(1)) || isCode(node.input(2));  // by codes that are a scale or a zero point
    if (node.is("QuantizeLinear") && isCode(node.outputs[0]) && !byCodes) {
      edges.quantizers.insert(id);
      edges.isClosed = edges.isClosed && typeOf(node.input(0)) == edges.numbers;
    } else if (node.is("DequantizeLinear") && isCode(node.input(0)) && !byCodes) {
      edges.dequantizers.insert(id);
      edges.isClosed = edges.isClosed && typeOf(node.outputs[0]) == edges.numbers;
    } else if (!carriesCodes(node)) {
      edges.isClosed = false;
    }
  }
  return edges;
}

void passThrough(GraphEditor& editor, NodeId id) {
  Node& node = editor.mutableNode(id);
  node.op = "Identity";
  node.inputs.resize(1);
  node.attributes.clear();
}

/// Returns `model` with numbers in place of the author's codes.
Result<std::shared_ptr<const Model>> withoutCodesOfAuthor(std::shared_ptr<const Model> model) {
  const Graph& graph = *model->graph;
  GraphEditor editor(graph);
  std::set<NodeId> seen;
  bool changed = false;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.is("QuantizeLinear") || seen.contains(id) || graph.isConstant(node.input(0))) continue;
    const CodeEdges edges = edgesFrom(graph, node);
    seen.insert(edges.quantizers.begin(), edges.quantizers.end());
    if (!edges.isClosed || !isExchangeable(edges.numbers) || !codeMeaning(graph, node.outputs[0])) continue;
    changed = true;
    for (const NodeId each : edges.quantizers) passThrough(editor, each);
    for (const NodeId each : edges.dequantizers) passThrough(editor, each);
    for (const ValueId value : edges.values) {
      TensorType type = graph.value(value).type;
      type.dtype = edges.numbers;
      editor.setType(value, std::move(type));
    }
  }
  if (!changed) return model;
  Model exact = *model;
  exact.graph = TRY(editor.publish());
  exact.contentHash = hashText("without codes " + model->contentHash.hex());
  return std::make_shared<const Model>(std::move(exact));
}

}  // namespace

Result<std::shared_ptr<const Model>> exactNetworkOf(const Plan& lowered, const StopToken& stop) {
  return withoutCodesOfAuthor(TRY(modelBeforeCodes(lowered, stop)));
}

ExactCounterparts::ExactCounterparts(const Graph& lowered, std::shared_ptr<const Model> exact)
    : m_lowered(lowered), m_exact(std::move(exact)) {
  for (const ValueId value : lowered.allValues()) {
    if (lowered.isConstant(value)) continue;
    const auto counterpart = find(value);
    if (!counterpart) continue;
    m_counterparts.emplace(value, *counterpart);
    const DataType made = lowered.value(value).type.dtype, exactly = m_exact->graph->value(*counterpart).type.dtype;
    if (made == exactly || !isExchangeable(exactly)) continue;
    if (auto found = codeMeaning(lowered, value)) m_meanings.emplace(value, std::move(*found));
  }
}

/// Returns the value itself, or the value that was quantised into it or out of it, or else the result of the same node
/// there.
std::optional<ValueId> ExactCounterparts::find(ValueId value) const {
  const Graph& exact = *m_exact->graph;
  for (;;) {
    if (exact.has(value)) return value;
    const NodeId id = m_lowered.value(value).producer;
    if (!m_lowered.has(id)) return std::nullopt;
    const Node& node = m_lowered.node(id);
    if (exact.has(id) && exact.node(id).op == node.op) {
      const auto slot = static_cast<std::size_t>(std::ranges::find(node.outputs, value) - node.outputs.begin());
      const Node& there = exact.node(id);
      return slot < there.outputs.size() && there.outputs[slot].valid() ? std::optional(there.outputs[slot])
                                                                        : std::nullopt;
    }
    if (!node.is("QuantizeLinear") && !node.is("DequantizeLinear")) return std::nullopt;
    value = node.input(0);
  }
}

std::optional<ValueId> ExactCounterparts::of(ValueId value) const {
  const auto found = m_counterparts.find(value);
  return found == m_counterparts.end() ? std::nullopt : std::optional(found->second);
}

const CodeMeaning* ExactCounterparts::meaning(ValueId value) const {
  const auto found = m_meanings.find(value);
  return found == m_meanings.end() ? nullptr : &found->second;
}

}  // namespace fusescope
