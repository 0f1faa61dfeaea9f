#include "planning/fusion/kernel_nodes.h"

#include <algorithm>

#include "planning/fusion/match.h"

namespace fusescope {

KernelNodes::KernelNodes(const Graph& graph, const FusedNode& fused)
    : m_graph(graph), m_fused(fused), m_members(fused.nodes.begin(), fused.nodes.end()) {
  for (const FusedOutput& output : fused.outputs) m_outputs.insert(output.value);
}

std::optional<NodeId> KernelNodes::maker(ValueId value) const {
  if (!value.valid() || !m_graph.has(value)) return std::nullopt;
  const NodeId id = m_graph.value(value).producer;
  return id.valid() && has(id) ? std::optional(id) : std::nullopt;
}

std::vector<NodeId> KernelNodes::readers(ValueId value) const {
  std::vector<NodeId> inside;
  std::ranges::copy_if(m_graph.value(value).consumers, std::back_inserter(inside), [&](NodeId id) { return has(id); });
  return inside;
}

std::optional<NodeId> KernelNodes::onlyReader(ValueId value) const {
  if (!value.valid() || isOutput(value)) return std::nullopt;
  const std::vector<NodeId> inside = readers(value);
  return inside.size() == 1 ? std::optional(inside[0]) : std::nullopt;
}

std::vector<NodeId> KernelNodes::between(ValueId from, ValueId to) const {
  std::set<NodeId> behind, before;
  for (const NodeId id : m_fused.nodes) {
    const bool follows = std::ranges::any_of(node(id).inputs, [&](ValueId input) {
      const auto made = maker(input);
      return input == from || (made && behind.contains(*made));
    });
    if (follows) behind.insert(id);
  }
  const auto last = maker(to);
  if (!last || !behind.contains(*last)) return {};
  before.insert(*last);
  for (auto id = m_fused.nodes.rbegin(); id != m_fused.nodes.rend(); ++id) {
    if (!before.contains(*id)) continue;
    for (const ValueId input : node(*id).inputs)
      if (const auto made = maker(input); made && behind.contains(*made)) before.insert(*made);
  }
  std::vector<NodeId> nodes;
  std::ranges::copy_if(m_fused.nodes, std::back_inserter(nodes), [&](NodeId id) { return before.contains(id); });
  return nodes;
}

bool KernelNodes::leaveOnly(const std::vector<NodeId>& nodes, ValueId result) const {
  const std::set<NodeId> all(nodes.begin(), nodes.end());
  return std::ranges::all_of(nodes, [&](NodeId id) {
    return std::ranges::all_of(node(id).outputs, [&](ValueId value) {
      return !value.valid() || value == result ||
             (!isOutput(value) && std::ranges::all_of(readers(value), [&](NodeId user) { return all.contains(user); }));
    });
  });
}

CodesBefore KernelNodes::codesBefore(ValueId value, bool throughViews) const {
  CodesBefore before;
  bool alone = true;
  for (auto made = maker(value); made; made = maker(value)) {
    const Node& from = node(*made);
    alone = alone && onlyReader(value).has_value();
    const bool dequantizes = from.is("DequantizeLinear");
    if (!dequantizes && !(throughViews && alone && isView(m_graph, from))) return {};
    if (alone) before.owned.push_back(*made);
    value = from.input(0);
    if (!dequantizes) continue;
    before.dequantize = *made;
    const auto quantize = maker(value);
    const bool ownsCodes = alone && onlyReader(value).has_value();
    if (quantize && ownsCodes && node(*quantize).is("QuantizeLinear")) before.quantize = *quantize;
    return before;
  }
  return {};
}

MatrixBefore KernelNodes::matrixBefore(ValueId value) const {
  MatrixBefore before;
  auto made = maker(value);
  for (; made && node(*made).is("Transpose"); made = maker(node(*made).input(0))) before.transposes.push_back(*made);
  if (made && node(*made).is("DequantizeLinear")) before.dequantize = *made;
  return before;
}

std::vector<DequantizedTableBinding> bindTables(const KernelNodes& nodes) {
  std::vector<DequantizedTableBinding> tables;
  for (const NodeId id : nodes.fused().nodes) {
    if (!nodes.node(id).is("Gather")) continue;
    const ValueId table = nodes.node(id).input(0);
    const auto made = nodes.maker(table);
    if (made && nodes.node(*made).is("DequantizeLinear") && nodes.onlyReader(table)) tables.push_back({id, *made});
  }
  return tables;
}

std::shared_ptr<const KernelBindings> bindKernel(const Graph& graph, const FusedNode& fused) {
  const KernelNodes nodes(graph, fused);
  KernelBindings bindings{.roots = bindRoots(nodes),
                          .norm = bindNorm(nodes),
                          .attention = bindAttention(nodes),
                          .heldCodes = bindHeldCodes(nodes),
                          .tables = bindTables(nodes)};
  const bool isEmpty = bindings.roots.empty() && bindings.norm.nodes.empty() && bindings.attention.nodes.empty() &&
                       bindings.heldCodes.empty() && bindings.tables.empty();
  return isEmpty ? nullptr : std::make_shared<const KernelBindings>(std::move(bindings));
}

const KernelBindings& kernelBindings(const FusedNode& fused) {
  static const KernelBindings kNone;
  return fused.kernel != nullptr ? *fused.kernel : kNone;
}

const RootBinding* findRoot(const FusedNode& fused, NodeId root) {
  const std::vector<RootBinding>& roots = kernelBindings(fused).roots;
  const auto found = std::ranges::find(roots, root, &RootBinding::root);
  return found == roots.end() ? nullptr : &*found;
}

NodeId findTable(const FusedNode& fused, NodeId gather) {
  const std::vector<DequantizedTableBinding>& tables = kernelBindings(fused).tables;
  const auto found = std::ranges::find(tables, gather, &DequantizedTableBinding::gather);
  return found == tables.end() ? NodeId() : found->dequantize;
}

bool hasRoot(const FusedNode& fused, RootBinding::Kind kind) {
  return std::ranges::count(kernelBindings(fused).roots, kind, &RootBinding::kind) > 0;
}

}  // namespace fusescope
