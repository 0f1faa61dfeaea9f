#include "frontends/onnx/content_hash.h"

#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::size_t kSmallConstant = 4096;  // bytes; the data of smaller constants are part of the hash

void add(KeyBuilder& key, const Tensor& tensor) {
  key.text(name(tensor.type()));
  key.text(toText(tensor.dims()));
  key.number(tensor.hasData());
  for (const std::string& text : tensor.strings()) key.text(text);
  if (tensor.bytes() != nullptr && tensor.byteSize() < kSmallConstant) key.bytes({tensor.bytes(), tensor.byteSize()});
}

void addGraph(KeyBuilder& key, const Graph& graph);

struct AttributeHasher {
  KeyBuilder& key;
  void operator()(std::int64_t value) const { key.number(value); }
  void operator()(float value) const { key.number(value); }
  void operator()(const std::string& value) const { key.text(value); }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    key.number(values.size());
    for (const T& value : values) (*this)(value);
  }
  void operator()(const Tensor& value) const { add(key, value); }
  void operator()(const Subgraph& value) const {
    for (const ValueId capture : value.captures) key.number(capture.index);
    addGraph(key, *value.graph);
  }
};

void addGraph(KeyBuilder& key, const Graph& graph) {
  for (const ValueId id : graph.allValues()) {
    const Value& value = graph.value(id);
    key.number(id.index).text(value.name).text(value.type.text());
    if (value.constant != nullptr) add(key, *value.constant);
  }
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    key.text(node.op).text(node.domain).text(node.name).number(node.inputs.size()).number(node.outputs.size());
    for (const ValueId input : node.inputs) key.number(input.index);
    for (const ValueId output : node.outputs) key.number(output.index);
    for (const auto& [name, attribute] : node.attributes) {
      key.text(name).number(attribute.index());
      std::visit(AttributeHasher{key}, attribute);
    }
  }
  for (const ValueId input : graph.inputs()) key.number(input.index);
  for (const ValueId output : graph.outputs()) key.number(output.index);
}

}  // namespace

Hash128 contentHash(const Graph& graph) {
  KeyBuilder key;
  addGraph(key, graph);
  return key.hash();
}

}  // namespace fusescope
