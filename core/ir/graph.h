#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/name_map.h"
#include "base/result.h"
#include "ir/tensor.h"
#include "ir/tensor_type.h"

namespace fusescope {

class Graph;

/// The body of a control-flow node. The last `captures.size()` inputs of `graph` are values of the enclosing graph.
struct Subgraph {
  std::shared_ptr<const Graph> graph;
  std::vector<ValueId> captures;
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor, Subgraph>;

/// An operator applied to values, in the canonical form of its newest ONNX version.
struct Node {
  NodeId id;
  std::string op;      ///< "Conv"
  std::string domain;  ///< "" is ai.onnx
  std::string name;    ///< unique in the graph; its ONNX name, `node_of_<first output>` if it had none, `#2` if taken
  std::vector<ValueId> inputs;   ///< an invalid id is an absent optional input
  std::vector<ValueId> outputs;  ///< an invalid id is an output nobody asked for
  std::map<std::string, Attribute> attributes;
  std::vector<OriginId> origins;  ///< the nodes of the file this node stands for

  ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : ValueId(); }
  bool is(std::string_view type) const { return domain.empty() && op == type; }
  std::int64_t intAttribute(const std::string& key, std::int64_t otherwise) const;
  float floatAttribute(const std::string& key, float otherwise) const;
  std::string textAttribute(const std::string& key, const std::string& otherwise) const;
  std::vector<std::int64_t> intsAttribute(const std::string& key,
                                          const std::vector<std::int64_t>& otherwise = {}) const;
  bool hasAttribute(const std::string& key) const { return attributes.contains(key); }
};

/// All that a node reads, in the order in which inferNode() and runNode() take it: its inputs (an invalid id for an
/// absent one), then what its bodies capture, body by body in the order of the attributes' names.
std::vector<ValueId> operands(const Node& node);
/// Whether an attribute of the node is a graph: the branches of an If, the body of a Loop or a Scan.
bool hasBody(const Node& node);

struct Value {
  ValueId id;
  std::string name;  ///< unique in the graph; the tensor's ONNX name
  TensorType type;
  NodeId producer;                         ///< invalid for inputs and constants
  std::vector<NodeId> consumers;           ///< each consumer once, in node order
  std::shared_ptr<const Tensor> constant;  ///< weights and folded values; may lack data in a weightless model
};

/// A dataflow graph. Immutable once published; ids are stable: removing a node leaves a hole, never renumbers.
/// Safe to read from any number of threads.
class Graph {
 public:
  const std::string& name() const { return m_name; }
  /// Every node, producers before consumers; among independent nodes the order of the file.
  const std::vector<NodeId>& order() const { return m_order; }
  std::size_t nodeCount() const { return m_order.size(); }
  std::size_t nodeIdLimit() const { return m_nodes.size(); }    ///< ids are below this
  std::size_t valueIdLimit() const { return m_values.size(); }  ///< ids are below this

  bool has(NodeId id) const { return id.index < m_nodes.size() && m_nodes[id.index].has_value(); }
  bool has(ValueId id) const { return id.index < m_values.size() && m_values[id.index].has_value(); }
  const Node& node(NodeId id) const { return *m_nodes[id.index]; }
  const Value& value(ValueId id) const { return *m_values[id.index]; }
  const std::vector<ValueId>& inputs() const { return m_inputs; }  ///< without initializers
  const std::vector<ValueId>& outputs() const { return m_outputs; }
  bool isInput(ValueId id) const;
  bool isOutput(ValueId id) const;
  bool isConstant(ValueId id) const { return has(id) && value(id).constant != nullptr; }
  /// The constant with its data, or null.
  const Tensor* constantData(ValueId id) const;
  std::optional<NodeId> findNode(std::string_view name) const;
  std::optional<ValueId> findValue(std::string_view name) const;
  std::vector<ValueId> allValues() const;  ///< in id order

 private:
  friend class GraphEditor;
  std::string m_name;
  std::vector<std::optional<Node>> m_nodes;
  std::vector<std::optional<Value>> m_values;
  std::vector<ValueId> m_inputs;
  std::vector<ValueId> m_outputs;
  std::vector<NodeId> m_order;
  NameMap<NodeId> m_nodeByName;
  NameMap<ValueId> m_valueByName;
};

/// The only way to make or change a Graph. Not thread-safe. Invariants are checked once, by publish().
class GraphEditor {
 public:
  GraphEditor() = default;
  explicit GraphEditor(const Graph& start) : m_graph(start) {}

  void setName(std::string name) { m_graph.m_name = std::move(name); }
  /// Makes room for so many nodes and values.
  void reserve(std::size_t nodes, std::size_t values);
  /// Adds a value; a taken name gets "#2", "#3", ….
  ValueId addValue(const std::string& name, TensorType type);
  ValueId addInput(const std::string& name, TensorType type);
  ValueId addConstant(const std::string& name, Tensor tensor);
  void addOutput(ValueId value);
  /// The order of the inputs; the same values that addInput() made.
  void setInputs(std::vector<ValueId> inputs) { m_graph.m_inputs = std::move(inputs); }
  void setOutputs(std::vector<ValueId> outputs) { m_graph.m_outputs = std::move(outputs); }

  /// `id` of the argument is ignored; a taken name gets "#2", "#3", ….
  NodeId addNode(Node node);
  void removeNode(NodeId id);    ///< its outputs stay until removed or given another producer
  void removeValue(ValueId id);  ///< must have no producer and no consumer left
  void setType(ValueId value, TensorType type);
  /// Where `node` wrote `from` it writes `to`, which must have no producer.
  void redirectOutput(NodeId node, ValueId from, ValueId to);
  void makeConstant(ValueId value, Tensor tensor);  ///< detaches the producer's claim on it
  /// Every use of `from` (inputs of nodes and outputs of the graph) becomes `to`.
  void replaceUses(ValueId from, ValueId to);
  Node& mutableNode(NodeId id) { return *m_graph.m_nodes[id.index]; }
  const Graph& current() const { return m_graph; }  ///< order and consumers may be stale until publish()

  /// Recomputes consumers and order, verifies, and hands out a copy of the graph; of an editor that has done its work
  /// (`std::move(editor).publish()`) the graph itself. A cycle or a broken reference is an error located at the node.
  Result<std::shared_ptr<const Graph>> publish() &;
  Result<std::shared_ptr<const Graph>> publish() &&;

 private:
  Status finish();

  Graph m_graph;
};

/// Structure, references, unique names, one producer per value, topological order. Used by publish() and tests.
Status verify(const Graph& graph);

/// The graph as text, one node a line, stable for equal graphs; `parse` reads it back. Grammar: ir/FORMAT.md.
std::string printGraph(const Graph& graph);
Result<std::shared_ptr<const Graph>> parseGraph(std::string_view text);

}  // namespace fusescope
