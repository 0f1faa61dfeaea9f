#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/graph.h"
#include "planning/types/read_type.h"
#include "tests/unit/cache/network_keys.h"

namespace fusescope::test {
namespace {

std::string elementsOf(const Tensor& tensor) {
  if (tensor.type() == DataType::String) return fmt::format("{}", fmt::join(tensor.strings(), "\1"));
  return hashBytes({tensor.bytes(), tensor.byteSize()}).hex();
}

std::string extentsText(const Tensor& tensor) {
  return fmt::format("{}{}", name(tensor.type()), toText(tensor.dims()));
}

struct AttributeMeaning {
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{:08x}f", std::bit_cast<std::uint32_t>(value)); }
  std::string operator()(const std::string& value) const { return '"' + value + '"'; }
  std::string operator()(const Tensor& value) const { return extentsText(value) + elementsOf(value); }
  std::string operator()(const Subgraph& value) const { return "{" + meaningOf(*value.graph) + "}"; }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "[";
    for (const T& value : values) text += (*this)(value) + ",";
    return text + "]";
  }
};

/// Writes nodes, and numbers values in the order in which they are first named.
class NodesText {
 public:
  explicit NodesText(const Graph& graph) : m_graph(graph) {}

  std::string of(ValueId value, const std::function<std::string(ValueId)>& describe) {
    if (!value.valid()) return "_";
    const auto [entry, isNew] = m_numbers.emplace(value, m_numbers.size());
    return fmt::format("%{}", entry->second) + (isNew ? ":" + describe(value) : "");
  }
  std::string of(const Node& node, const std::function<std::string(ValueId)>& describe) {
    std::string text = node.domain + "::" + node.op;
    for (const auto& [key, attribute] : node.attributes)
      text += fmt::format(" {}={}", key, std::visit(AttributeMeaning(), attribute));
    text += " (";
    for (const ValueId value : operands(node)) text += of(value, describe) + " ";
    text += ") -> (";
    for (const ValueId value : node.outputs) text += of(value, describe) + " ";
    return text + ")\n";
  }
  std::string number(ValueId value) const {
    const auto found = m_numbers.find(value);
    return found == m_numbers.end() ? "outside" : fmt::format("%{}", found->second);
  }

 private:
  const Graph& m_graph;
  std::map<ValueId, std::size_t> m_numbers;
};

/// Returns whether the elements of a constant are part of the structure of a region.
bool isOfStructure(const Tensor& tensor) {
  return tensor.count() == 1 || tensor.count() == 0 || (!isFloat(tensor.type()) && tensor.count() <= 64);
}

class RegionText {
 public:
  explicit RegionText(const KernelRequest& request)
      : m_request(request), m_plan(*request.plan), m_fused(*request.fused), m_nodes(m_plan.graph()) {}

  std::string structure(const std::function<bool(const Tensor&, std::size_t)>& hasContent) {
    std::string text = fmt::format("{} {} {}\n", m_fused.kind, name(m_fused.compute), name(m_fused.accumulate));
    for (const NodeId id : m_fused.nodes)
      text += fmt::format("{} ", name(m_plan.calculates[id.index])) +
              m_nodes.of(m_plan.graph().node(id), [&](ValueId value) { return described(value, hasContent); });
    return text;
  }
  std::string rest() const {
    std::string text = fmt::format("threads {} fallback {} root {}\n", m_request.threads, m_plan.inFallback(m_fused),
                                   placeOf(m_fused.root));
    for (const ValueId input : m_fused.inputs) text += "in " + m_nodes.number(input);
    for (const FusedOutput& output : m_fused.outputs) text += "out " + m_nodes.number(output.value);
    for (const InnerEdge& edge : m_fused.innerEdges) text += "inner " + m_nodes.number(edge.value);
    for (const Binding& binding : m_fused.bindings)
      text += fmt::format(" {}={}@{}", binding.role, m_nodes.number(binding.value), placeOf(binding.node));
    for (const NodeId id : m_fused.nodes)
      text += fmt::format(" memory {} moves {}", m_plan.readsMemory(id), movesElements(m_plan, id));
    for (const auto* list : {&m_plan.truncation.constants, &m_plan.truncation.produced})
      for (const TruncatedValue& value : *list)
        if (const std::string number = m_nodes.number(value.value); number != "outside")
          text += fmt::format(" {} becomes {}", number, name(value.to));
    return text;
  }

 private:
  std::ptrdiff_t placeOf(NodeId node) const { return std::ranges::find(m_fused.nodes, node) - m_fused.nodes.begin(); }
  std::string described(ValueId value, const std::function<bool(const Tensor&, std::size_t)>& hasContent) const {
    std::string text;
    if (const auto found = m_request.values.find(value); found != m_request.values.end())
      text += fmt::format("{}{}", name(found->second.dtype), toText(found->second.dims));
    for (const FusedOutput& output : m_fused.outputs)
      if (output.value == value) text += fmt::format(" written as {}", name(output.type));
    for (const InnerEdge& edge : m_fused.innerEdges)
      if (edge.value == value) text += fmt::format(" {} {}", edge.real ? "real" : "inner", name(edge.type));
    const auto constant = m_request.constants.find(value);
    if (constant == m_request.constants.end()) return text;
    text += fmt::format(" const {} stored as {}", extentsText(constant->second), name(m_plan.storedType(value)));
    const auto slot = std::ranges::find(m_request.weightSlots, value) - m_request.weightSlots.begin();
    const bool isDisclosed =
        isOfStructure(constant->second) || hasContent(constant->second, static_cast<std::size_t>(slot));
    return isDisclosed ? text + elementsOf(constant->second) : text;
  }

  const KernelRequest& m_request;
  const Plan& m_plan;
  const FusedNode& m_fused;
  NodesText m_nodes;
};

}  // namespace

std::string meaningOf(const Graph& graph) {
  NodesText nodes(graph);
  const auto describe = [&](ValueId id) {
    const Value& value = graph.value(id);
    return value.type.text() + (value.constant == nullptr ? "" : " const " + elementsOf(*value.constant));
  };
  std::string text;
  for (const ValueId input : graph.inputs()) text += "input " + nodes.of(input, describe) + "\n";
  for (const NodeId id : graph.order()) text += nodes.of(graph.node(id), describe);
  for (const ValueId output : graph.outputs()) text += "output " + nodes.of(output, describe) + "\n";
  return text;
}

std::string meaningOf(const KernelRequest& request, const std::function<bool(const Tensor&, std::size_t)>& hasContent) {
  RegionText text(request);
  std::string nodes = text.structure(hasContent);
  return nodes + text.rest();
}

std::string structureOf(const KernelRequest& request) {
  return RegionText(request).structure([](const Tensor&, std::size_t) { return false; });
}

}  // namespace fusescope::test
