#include "analysis/structural_key.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::int64_t kStructuralElements = 64;

void addTensor(KeyBuilder& key, const Tensor& tensor, bool content) {
  key.text(name(tensor.type())).number(tensor.dims().size());
  for (const std::int64_t extent : tensor.dims()) key.number(extent);
  if (!content || !tensor.hasData()) return;
  if (tensor.type() == DataType::String) {
    for (const std::string& element : tensor.strings()) key.text(element);
    return;
  }
  key.bytes({tensor.bytes(), tensor.byteSize()});
}

std::string subgraphKey(const Subgraph& subgraph) {
  const Graph& graph = *subgraph.graph;
  return structuralKey({.graph = &graph,
                        .nodes = graph.order(),
                        .describe = [&](ValueId id) { return graph.value(id).type.text(); },
                        .context = "subgraph"});
}

struct AttributeWriter {
  KeyBuilder& key;
  void operator()(std::int64_t value) const { key.number(value); }
  void operator()(float value) const { key.number(value); }
  void operator()(const std::string& value) const { key.text(value); }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    key.number(values.size());
    for (const T& value : values) (*this)(value);
  }
  void operator()(const Tensor& value) const { addTensor(key, value, true); }
  void operator()(const Subgraph& value) const { key.text(subgraphKey(value)); }
};

void addOperator(KeyBuilder& key, const Node& node) {
  key.text(node.domain).text(node.op).number(node.attributes.size());
  for (const auto& [attribute, value] : node.attributes) {
    key.text(attribute).number(value.index());
    std::visit(AttributeWriter{key}, value);
  }
}

}  // namespace

bool isStructural(const Tensor& constant) {
  if (constant.count() <= 1) return true;
  return constant.count() <= kStructuralElements && !isFloat(constant.type());
}

std::string operatorKey(const Node& node) {
  KeyBuilder key;
  addOperator(key, node);
  return key.canonical();
}

std::string structuralKey(const RegionContent& region) {
  KeyBuilder key;
  key.text(region.context).number(region.nodes.size());
  std::map<ValueId, std::uint32_t> numbers;
  const auto addValue = [&](ValueId id) {
    if (!id.valid()) {
      key.text("absent");
      return;
    }
    const auto [entry, isNew] = numbers.emplace(id, static_cast<std::uint32_t>(numbers.size()));
    key.number(entry->second);
    if (!isNew) return;
    key.text(region.describe(id));
    const Value& value = region.graph->value(id);
    if (value.constant) {
      key.text("constant");
      addTensor(key, *value.constant, isStructural(*value.constant));
    }
  };
  for (const NodeId id : region.nodes) {
    const Node& node = region.graph->node(id);
    addOperator(key, node);
    key.number(node.inputs.size());
    for (const ValueId input : node.inputs) addValue(input);
    key.number(node.outputs.size());
    for (const ValueId output : node.outputs) addValue(output);
  }
  return key.canonical();
}

}  // namespace fusescope
