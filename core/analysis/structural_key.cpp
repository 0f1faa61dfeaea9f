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

std::string subgraphKey(const Subgraph& subgraph);

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

/// Numbers values in the order in which they are first named.
class StructureWriter {
 public:
  explicit StructureWriter(const RegionContent& region) : m_region(region) {
    m_key.text(region.context).number(region.nodes.size());
  }

  void addNodes() {
    for (const NodeId id : m_region.nodes) {
      const Node& node = m_region.graph->node(id);
      addOperator(m_key, node);
      addValues(operands(node));
      addValues(node.outputs);
    }
  }
  void addValues(std::span<const ValueId> values) {
    m_key.number(values.size());
    for (const ValueId value : values) add(value);
  }
  const std::string& canonical() const { return m_key.canonical(); }

 private:
  void add(ValueId id) {
    if (!id.valid()) {
      m_key.text("absent");
      return;
    }
    const auto [entry, isNew] = m_numbers.emplace(id, static_cast<std::uint32_t>(m_numbers.size()));
    m_key.number(entry->second);
    if (!isNew) return;
    m_key.text(m_region.describe(id));
    const Value& value = m_region.graph->value(id);
    if (value.constant == nullptr) return;
    m_key.text("constant");
    addTensor(m_key, *value.constant, isStructural(*value.constant));
  }

  const RegionContent& m_region;
  KeyBuilder m_key;
  std::map<ValueId, std::uint32_t> m_numbers;
};

/// The order of the inputs and outputs of a body says which value of its holder each of them is.
std::string subgraphKey(const Subgraph& subgraph) {
  const Graph& graph = *subgraph.graph;
  const RegionContent body{.graph = &graph,
                           .nodes = graph.order(),
                           .describe = [&](ValueId id) { return graph.value(id).type.text(); },
                           .context = "subgraph"};
  StructureWriter writer(body);
  writer.addValues(graph.inputs());
  writer.addNodes();
  writer.addValues(graph.outputs());
  return writer.canonical();
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
  StructureWriter writer(region);
  writer.addNodes();
  return writer.canonical();
}

}  // namespace fusescope
