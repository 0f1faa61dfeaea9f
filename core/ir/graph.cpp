#include "ir/graph.h"

#include <algorithm>

namespace fusescope {
namespace {

template <class T>
const T* attributeAs(const Node& node, const std::string& key) {
  const auto found = node.attributes.find(key);
  return found == node.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

template <class IdType>
std::string uniqueName(const NameMap<IdType>& taken, const std::string& wanted) {
  if (!taken.contains(wanted)) return wanted;
  for (int n = 2;; ++n) {
    std::string name = wanted + "#" + std::to_string(n);
    if (!taken.contains(name)) return name;
  }
}

}  // namespace

std::int64_t Node::intAttribute(const std::string& key, std::int64_t otherwise) const {
  const auto* value = attributeAs<std::int64_t>(*this, key);
  return value != nullptr ? *value : otherwise;
}

float Node::floatAttribute(const std::string& key, float otherwise) const {
  const auto* value = attributeAs<float>(*this, key);
  return value != nullptr ? *value : otherwise;
}

std::string Node::textAttribute(const std::string& key, const std::string& otherwise) const {
  const auto* value = attributeAs<std::string>(*this, key);
  return value != nullptr ? *value : otherwise;
}

std::vector<std::int64_t> Node::intsAttribute(const std::string& key,
                                              const std::vector<std::int64_t>& otherwise) const {
  const auto* value = attributeAs<std::vector<std::int64_t>>(*this, key);
  return value != nullptr ? *value : otherwise;
}

bool Graph::isInput(ValueId id) const {
  return std::ranges::find(m_inputs, id) != m_inputs.end();
}
bool Graph::isOutput(ValueId id) const {
  return std::ranges::find(m_outputs, id) != m_outputs.end();
}

const Tensor* Graph::constantData(ValueId id) const {
  if (!isConstant(id)) return nullptr;
  const Tensor* tensor = value(id).constant.get();
  return tensor->hasData() ? tensor : nullptr;
}

std::optional<NodeId> Graph::findNode(std::string_view name) const {
  const auto found = m_nodeByName.find(name);
  return found == m_nodeByName.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ValueId> Graph::findValue(std::string_view name) const {
  const auto found = m_valueByName.find(name);
  return found == m_valueByName.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ValueId> Graph::allValues() const {
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < m_values.size(); ++i)
    if (m_values[i].has_value()) ids.emplace_back(i);
  return ids;
}

void GraphEditor::reserve(std::size_t nodes, std::size_t values) {
  m_graph.m_nodes.reserve(nodes);
  m_graph.m_nodeByName.reserve(nodes);
  m_graph.m_values.reserve(values);
  m_graph.m_valueByName.reserve(values);
}

ValueId GraphEditor::addValue(const std::string& name, TensorType type) {
  const ValueId id(m_graph.m_values.size());
  Value value;
  value.id = id;
  value.name = uniqueName(m_graph.m_valueByName, name);
  value.type = std::move(type);
  m_graph.m_valueByName.emplace(value.name, id);
  m_graph.m_values.emplace_back(std::move(value));
  return id;
}

ValueId GraphEditor::addInput(const std::string& name, TensorType type) {
  const ValueId id = addValue(name, std::move(type));
  m_graph.m_inputs.push_back(id);
  return id;
}

ValueId GraphEditor::addConstant(const std::string& name, Tensor tensor) {
  const ValueId id = addValue(name, typeOf(tensor));
  m_graph.m_values[id.index]->constant = std::make_shared<const Tensor>(std::move(tensor));
  return id;
}

void GraphEditor::addOutput(ValueId value) {
  m_graph.m_outputs.push_back(value);
}

NodeId GraphEditor::addNode(Node node) {
  const NodeId id(m_graph.m_nodes.size());
  node.id = id;
  node.name = uniqueName(m_graph.m_nodeByName, node.name);
  m_graph.m_nodeByName.emplace(node.name, id);
  for (const ValueId output : node.outputs)
    if (output.valid()) m_graph.m_values[output.index]->producer = id;
  m_graph.m_nodes.emplace_back(std::move(node));
  return id;
}

void GraphEditor::removeNode(NodeId id) {
  const Node& node = *m_graph.m_nodes[id.index];
  for (const ValueId output : node.outputs)
    if (m_graph.has(output) && m_graph.value(output).producer == id)
      m_graph.m_values[output.index]->producer = NodeId();
  m_graph.m_nodeByName.erase(node.name);
  m_graph.m_nodes[id.index].reset();
}

void GraphEditor::removeValue(ValueId id) {
  m_graph.m_valueByName.erase(m_graph.m_values[id.index]->name);
  m_graph.m_values[id.index].reset();
  std::erase(m_graph.m_inputs, id);
}

void GraphEditor::setType(ValueId value, TensorType type) {
  m_graph.m_values[value.index]->type = std::move(type);
}

void GraphEditor::redirectOutput(NodeId node, ValueId from, ValueId to) {
  std::ranges::replace(m_graph.m_nodes[node.index]->outputs, from, to);
  m_graph.m_values[from.index]->producer = NodeId();
  m_graph.m_values[to.index]->producer = node;
}

void GraphEditor::makeConstant(ValueId id, Tensor tensor) {
  Value& value = *m_graph.m_values[id.index];
  if (m_graph.has(value.producer)) {
    for (ValueId& output : m_graph.m_nodes[value.producer.index]->outputs)
      if (output == id) output = ValueId();
  }
  value.producer = NodeId();
  value.type = typeOf(tensor);
  value.constant = std::make_shared<const Tensor>(std::move(tensor));
}

bool hasBody(const Node& node) {
  return std::ranges::any_of(node.attributes,
                             [](const auto& entry) { return std::holds_alternative<Subgraph>(entry.second); });
}

std::vector<ValueId> operands(const Node& node) {
  std::vector<ValueId> values = node.inputs;
  for (const auto& [key, attribute] : node.attributes)
    if (const auto* body = std::get_if<Subgraph>(&attribute))
      values.insert(values.end(), body->captures.begin(), body->captures.end());
  return values;
}

void GraphEditor::replaceUses(ValueId from, ValueId to) {
  for (std::optional<Node>& node : m_graph.m_nodes) {
    if (!node) continue;
    std::ranges::replace(node->inputs, from, to);
    for (auto& [key, attribute] : node->attributes)
      if (auto* body = std::get_if<Subgraph>(&attribute)) std::ranges::replace(body->captures, from, to);
  }
  std::ranges::replace(m_graph.m_outputs, from, to);
}

namespace {

std::vector<ValueId> reads(const Node& node) {
  std::vector<ValueId> values = operands(node);
  std::erase_if(values, [](ValueId value) { return !value.valid(); });
  return values;
}

Diagnostic brokenNode(const Node& node, std::string message) {
  return {.message = std::move(message), .where = {.node = node.name}};
}

Status checkReferences(const Graph& graph, const Node& node) {
  for (const ValueId read : reads(node))
    if (!graph.has(read)) return brokenNode(node, "reads a value that does not exist");
  for (const ValueId output : node.outputs) {
    if (!output.valid()) continue;
    if (!graph.has(output)) return brokenNode(node, "writes a value that does not exist");
    const Value& value = graph.value(output);
    if (value.producer != node.id)
      return Diagnostic{.message = "is calculated more than once", .where = {.node = node.name, .value = value.name}};
  }
  return Done{};
}

}  // namespace

Result<std::shared_ptr<const Graph>> GraphEditor::publish() & {
  TRY(finish());
  return std::make_shared<const Graph>(m_graph);
}

Result<std::shared_ptr<const Graph>> GraphEditor::publish() && {
  TRY(finish());
  return std::make_shared<const Graph>(std::move(m_graph));
}

Status GraphEditor::finish() {
  Graph& graph = m_graph;
  std::vector<NodeId> ready;
  std::vector<int> waiting(graph.m_nodes.size(), 0);
  std::size_t nodes = 0;
  for (std::optional<Value>& value : graph.m_values)
    if (value) value->consumers.clear();
  for (const std::optional<Node>& node : graph.m_nodes) {
    if (!node) continue;
    ++nodes;
    TRY(checkReferences(graph, *node));
    for (const ValueId read : reads(*node)) {
      Value& value = *graph.m_values[read.index];
      if (!value.consumers.empty() && value.consumers.back() == node->id) continue;
      value.consumers.push_back(node->id);
      if (graph.has(value.producer)) ++waiting[node->id.index];
    }
    if (waiting[node->id.index] == 0) ready.push_back(node->id);
  }
  // Of the nodes that may come next, the one with the lowest id is chosen, so that the order of the file is kept where
  // possible.
  const auto later = [](NodeId a, NodeId b) { return a > b; };
  std::ranges::make_heap(ready, later);
  graph.m_order.clear();
  while (!ready.empty()) {
    std::ranges::pop_heap(ready, later);
    const NodeId next = ready.back();
    ready.pop_back();
    graph.m_order.push_back(next);
    for (const ValueId output : graph.node(next).outputs) {
      if (!output.valid()) continue;
      for (const NodeId consumer : graph.value(output).consumers) {
        if (--waiting[consumer.index] != 0) continue;
        ready.push_back(consumer);
        std::ranges::push_heap(ready, later);
      }
    }
  }
  if (graph.m_order.size() != nodes) {
    for (const std::optional<Node>& node : graph.m_nodes)
      if (node && waiting[node->id.index] > 0)
        return brokenNode(*node, "is part of a cycle: it depends on its own output");
  }
  return verify(graph);
}

Status verify(const Graph& graph) {
  std::vector<bool> placed(graph.nodeIdLimit(), false);
  for (const NodeId id : graph.order()) {
    if (!graph.has(id)) return Diagnostic{.message = "the order names a node that does not exist"};
    const Node& node = graph.node(id);
    TRY(checkReferences(graph, node));
    if (graph.findNode(node.name) != id) return brokenNode(node, "another node has the same name");
    for (const ValueId read : reads(node)) {
      const Value& value = graph.value(read);
      if (graph.has(value.producer) && !placed[value.producer.index])
        return brokenNode(node, "comes before its producer");
      if (value.constant != nullptr && value.producer.valid())
        return Diagnostic{.message = "is a constant, but a node calculates it", .where = {.value = value.name}};
    }
    placed[id.index] = true;
  }
  for (const ValueId id : graph.outputs()) {
    if (!graph.has(id)) return Diagnostic{.message = "an output of the graph does not exist"};
    const Value& value = graph.value(id);
    if (!graph.has(value.producer) && value.constant == nullptr && !graph.isInput(id))
      return Diagnostic{.message = "is an output of the graph, but no node calculates it",
                        .where = {.value = value.name}};
  }
  for (const ValueId id : graph.allValues()) {
    const Value& value = graph.value(id);
    if (!value.consumers.empty() && !graph.has(value.producer) && value.constant == nullptr && !graph.isInput(id))
      return Diagnostic{.message = "is read, but no node calculates it",
                        .where = {.node = graph.node(value.consumers.front()).name, .value = value.name}};
  }
  return Done{};
}

}  // namespace fusescope
