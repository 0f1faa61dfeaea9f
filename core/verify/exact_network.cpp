#include "verify/exact_network.h"

#include <algorithm>
#include <set>

#include "planning/quantized_model.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

/// Edges of codes that hand the same codes on, from QuantizeLinear to DequantizeLinear.
struct CodeEdges {
  std::set<ValueId> values;
  std::set<NodeId> quantizers, dequantizers;
  TensorType type;       ///< of the numbers: the element type alone counts
  bool isClosed = true;  ///< nothing else makes or reads them
};

/// All that codes reach from `quantizer`.
CodeEdges edgesFrom(const Graph& graph, const Node& quantizer) {
  CodeEdges edges{.type = graph.value(quantizer.input(0)).type};
  std::vector<ValueId> open{quantizer.outputs[0]};
  edges.values.insert(open.front());
  const DataType codes = graph.value(open.front()).type.dtype;
  const auto reach = [&](ValueId value) {
    if (!value.valid() || graph.value(value).type.dtype != codes) return;
    if (edges.values.insert(value).second) open.push_back(value);
  };
  while (!open.empty()) {
    const Value& value = graph.value(open.back());
    open.pop_back();
    edges.isClosed = edges.isClosed && value.producer.valid() && !graph.isOutput(value.id);
    std::vector<NodeId> nodes = value.consumers;
    if (value.producer.valid()) nodes.push_back(value.producer);
    for (const NodeId id : nodes) {
      const Node& node = graph.node(id);
      if (node.is("QuantizeLinear") && node.outputs[0] == value.id) {
        edges.quantizers.insert(id);
        edges.isClosed = edges.isClosed && graph.value(node.input(0)).type.dtype == edges.type.dtype;
      } else if (node.is("DequantizeLinear") && node.input(0) == value.id && node.input(1) != value.id) {
        edges.dequantizers.insert(id);
        edges.isClosed = edges.isClosed && graph.value(node.outputs[0]).type.dtype == edges.type.dtype;
      } else if (carriesCodes(node)) {
        std::ranges::for_each(node.inputs, reach);
        std::ranges::for_each(node.outputs, reach);
      } else {
        edges.isClosed = false;
      }
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

/// `model`, in which what its author made codes holds the number itself.
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
    if (!edges.isClosed || !isExchangeable(edges.type.dtype) || !codeMeaning(graph, node.outputs[0])) continue;
    changed = true;
    for (const NodeId each : edges.quantizers) passThrough(editor, each);
    for (const NodeId each : edges.dequantizers) passThrough(editor, each);
    for (const ValueId value : edges.values) {
      TensorType type = graph.value(value).type;
      type.dtype = edges.type.dtype;
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

/// Itself, else what was made codes or of codes, else what the same node makes there.
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
