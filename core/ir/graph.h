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

/// The body of a control-flow node. The last `captures.size()` inputs of `graph` are values of the enclosing graph,
/// which `captures` lists.
struct Subgraph {
  std::shared_ptr<const Graph> graph;
  std::vector<ValueId> captures;
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor, Subgraph>;

/// An operator applied to values, in the form of its newest ONNX version.
struct Node {
  NodeId id;
  std::string op;      ///< "Conv"
  std::string domain;  ///< empty for ai.onnx
  std::string name;  ///< unique in the graph: the node's ONNX name, or `node_of_<first output>` if it had none; `#2` is
                     ///< appended if it is taken
  std::vector<ValueId> inputs;   ///< an invalid id is an optional input that is absent
  std::vector<ValueId> outputs;  ///< an invalid id is an output that is not used
  std::map<std::string, Attribute> attributes;
  std::vector<OriginId> origins;  ///< the nodes of the file that this node replaces

  ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : ValueId(); }
  bool is(std::string_view type) const { return domain.empty() && op == type; }
  std::int64_t intAttribute(const std::string& key, std::int64_t otherwise) const;
  float floatAttribute(const std::string& key, float otherwise) const;
  std::string textAttribute(const std::string& key, const std::string& otherwise) const;
  std::vector<std::int64_t> intsAttribute(const std::string& key,
                                          const std::vector<std::int64_t>& otherwise = {}) const;
  bool hasAttribute(const std::string& key) const { return attributes.contains(key); }
};

/// Returns everything that a node reads, in the order that inferNode() and runNode() expect: its inputs (an invalid id
/// for an absent one), then the captured values of its bodies, in the order of the attributes' names.
std::vector<ValueId> operands(const Node& node);
/// Returns whether the node has a body: a branch of an If, or the body of a Loop or Scan.
bool hasBody(const Node& node);

struct Value {
  ValueId id;
  std::string name;  ///< unique in the graph; the ONNX name of the tensor
  TensorType type;
  NodeId producer;                         ///< invalid for inputs and constants
  std::vector<NodeId> consumers;           ///< each consumer once, in node order
  std::shared_ptr<const Tensor> constant;  ///< a weight or a folded value; its data is absent in a weightless model
};

/// A dataflow graph. It does not change after it was published. Ids are stable: if a node is removed, its id stays
/// unused, and the others keep theirs. May be read by any number of threads.
class Graph {
 public:
  const std::string& name() const { return m_name; }
  /// Returns all nodes, producers before consumers. Independent nodes are in the order of the file.
  const std::vector<NodeId>& order() const { return m_order; }
  std::size_t nodeCount() const { return m_order.size(); }
  std::size_t nodeIdLimit() const { return m_nodes.size(); }    ///< every node id is smaller
  std::size_t valueIdLimit() const { return m_values.size(); }  ///< every value id is smaller

  bool has(NodeId id) const { return id.index < m_nodes.size() && m_nodes[id.index].has_value(); }
  bool has(ValueId id) const { return id.index < m_values.size() && m_values[id.index].has_value(); }
  const Node& node(NodeId id) const { return *m_nodes[id.index]; }
  const Value& value(ValueId id) const { return *m_values[id.index]; }
  const std::vector<ValueId>& inputs() const { return m_inputs; }  ///< without initializers
  const std::vector<ValueId>& outputs() const { return m_outputs; }
  bool isInput(ValueId id) const;
  bool isOutput(ValueId id) const;
  bool isConstant(ValueId id) const { return has(id) && value(id).constant != nullptr; }
  /// Returns the constant if it has data; otherwise null.
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

/// The only way to make or change a Graph. publish() checks the invariants. Not thread-safe.
class GraphEditor {
 public:
  GraphEditor() = default;
  explicit GraphEditor(const Graph& start) : m_graph(start) {}

  void setName(std::string name) { m_graph.m_name = std::move(name); }
  /// Reserves memory for this many nodes and values.
  void reserve(std::size_t nodes, std::size_t values);
  /// Adds a value. If the name is taken, "#2", "#3", … is appended.
  ValueId addValue(const std::string& name, TensorType type);
  ValueId addInput(const std::string& name, TensorType type);
  ValueId addConstant(const std::string& name, Tensor tensor);
  void addOutput(ValueId value);
  /// Sets the order of the inputs, which must be the values that addInput() returned.
  void setInputs(std::vector<ValueId> inputs) { m_graph.m_inputs = std::move(inputs); }
  void setOutputs(std::vector<ValueId> outputs) { m_graph.m_outputs = std::move(outputs); }

  /// Adds a node and ignores its `id`. If the name is taken, "#2", "#3", … is appended.
  NodeId addNode(Node node);
  void removeNode(NodeId id);    ///< its outputs remain until they are removed or get another producer
  void removeValue(ValueId id);  ///< it must have no producer and no consumer
  void setType(ValueId value, TensorType type);
  /// Makes `node` write `to` in place of `from`. `to` must have no producer.
  void redirectOutput(NodeId node, ValueId from, ValueId to);
  void makeConstant(ValueId value, Tensor tensor);  ///< the node that produced the value no longer does
  /// Replaces `from` by `to` wherever it is read: as an input of a node, or as an output of the graph.
  void replaceUses(ValueId from, ValueId to);
  Node& mutableNode(NodeId id) { return *m_graph.m_nodes[id.index]; }
  const Graph& current() const { return m_graph; }  ///< order and consumers may be out of date until publish()

  /// Recomputes consumers and order, verifies the graph, and returns a copy of it; `std::move(editor).publish()`
  /// returns the graph itself. A cycle or an invalid reference is an error, located at the node.
  Result<std::shared_ptr<const Graph>> publish() &;
  Result<std::shared_ptr<const Graph>> publish() &&;

 private:
  Status finish();

  Graph m_graph;
};

/// Checks structure, references, unique names, that each value has one producer, and topological order.
Status verify(const Graph& graph);

/// Prints the graph as text with one node per line; equal graphs give equal texts. parseGraph() reads it. The grammar
/// is in ir/FORMAT.md.
std::string printGraph(const Graph& graph);
Result<std::shared_ptr<const Graph>> parseGraph(std::string_view text);

}  // namespace fusescope
