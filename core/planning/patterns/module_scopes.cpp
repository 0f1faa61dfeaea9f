#include "planning/patterns/module_scopes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "ir/graph.h"
#include "planning/patterns/module_paths.h"

namespace fusescope {

namespace {

constexpr std::size_t kDeepest = 24;  // maximum nesting of modules; deeper nodes are in the innermost of these

/// Returns whether this is what PyTorch's exporter writes if it lost the module.
bool isLost(std::string_view module) {
  return module.starts_with("_empty_nn_module_stack");
}

class ScopeFinder {
 public:
  explicit ScopeFinder(const Model& model) : m_graph(*model.graph), m_scopeOf(m_graph.nodeIdLimit(), -1) {
    m_scopes.emplace_back();
    for (const NodeId id : m_graph.order()) {
      const std::string module = moduleOf(model, m_graph.node(id));
      if (module.empty() || isLost(module)) continue;
      ++m_said;
      std::int32_t scope = 0;
      std::size_t depth = 0;
      for (const std::string& part : split(module, '.'))
        if (!part.empty() && depth++ < kDeepest) scope = childOf(scope, part);
      m_scopeOf[id.index] = scope;
    }
  }

  std::vector<ModuleScope> find() {
    if (m_said * 4 < m_graph.nodeCount() || m_said == 0) return {};
    const std::vector<NodeId>& order = m_graph.order();
    std::for_each(order.begin(), order.end(), [&](NodeId id) { place(id); });
    std::for_each(order.rbegin(), order.rend(), [&](NodeId id) { place(id); });
    liftShared();
    for (const NodeId id : order) at(std::max(0, m_scopeOf[id.index])).nodes.push_back(id);
    return std::move(m_scopes);
  }

 private:
  ModuleScope& at(std::int32_t scope) { return m_scopes[static_cast<std::size_t>(scope)]; }

  std::int32_t childOf(std::int32_t scope, const std::string& part) {
    const auto [it, added] = m_children.try_emplace({scope, part}, static_cast<std::int32_t>(m_scopes.size()));
    if (added) {
      at(scope).children.push_back(it->second);
      m_depth.push_back(m_depth[static_cast<std::size_t>(scope)] + 1);
      m_scopes.push_back({.part = part, .parent = scope, .children = {}, .nodes = {}});
    }
    return it->second;
  }

  std::int32_t common(std::int32_t a, std::int32_t b) {
    while (a != b) {
      std::int32_t& deeper = m_depth[static_cast<std::size_t>(a)] >= m_depth[static_cast<std::size_t>(b)] ? a : b;
      deeper = at(deeper).parent;
    }
    return a;
  }

  void place(NodeId id) {
    std::int32_t& scope = m_scopeOf[id.index];
    if (scope >= 0) return;
    const auto join = [&](NodeId neighbour) {
      const std::int32_t other = neighbour.valid() ? m_scopeOf[neighbour.index] : -1;
      if (other >= 0) scope = scope < 0 ? other : common(scope, other);
    };
    const Node& node = m_graph.node(id);
    for (const ValueId input : node.inputs)
      if (input.valid()) join(m_graph.value(input).producer);
    for (const ValueId output : node.outputs)
      if (output.valid())
        std::for_each(m_graph.value(output).consumers.begin(), m_graph.value(output).consumers.end(), join);
  }

  std::int32_t scopeOf(NodeId id) const { return std::max(0, m_scopeOf[id.index]); }
  std::int32_t deeper(std::int32_t a, std::int32_t b) const {
    return m_depth[static_cast<std::size_t>(a)] >= m_depth[static_cast<std::size_t>(b)] ? a : b;
  }
  bool readsWeight(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
      const Tensor* constant = input.valid() ? m_graph.value(input).constant.get() : nullptr;
      return constant != nullptr && constant->count() > 1 && isFloat(constant->type());
    });
  }

  /// Exporters calculate some values once (a mask, angles of positions) and name them after the first module that reads
  /// them. Such a node is moved to the module around all its readers, if it reads nothing that is calculated there, and
  /// no weight.
  void liftShared() {
    std::vector<std::int32_t> outermost(m_scopeOf.size(), 0);  // by node: the outermost module to which it may be moved
    for (const NodeId id : m_graph.order()) {
      const Node& node = m_graph.node(id);
      std::int32_t& most = outermost[id.index];
      if (readsWeight(node)) most = scopeOf(id);
      for (const ValueId input : operands(node)) {
        const NodeId producer = input.valid() ? m_graph.value(input).producer : NodeId();
        if (!producer.valid()) continue;
        const std::int32_t both = common(scopeOf(producer), scopeOf(id)), its = outermost[producer.index];
        most = deeper(most, deeper(both, its) == both ? its : both);
      }
    }
    const std::vector<std::int32_t> before = m_scopeOf;
    for (auto id = m_graph.order().rbegin(); id != m_graph.order().rend(); ++id) lift(*id, before, outermost);
  }

  void lift(NodeId id, const std::vector<std::int32_t>& before, const std::vector<std::int32_t>& outermost) {
    std::int32_t around = scopeOf(id);
    std::vector<NodeId> readers;
    for (const ValueId output : m_graph.node(id).outputs)
      if (output.valid())
        readers.insert(readers.end(), m_graph.value(output).consumers.begin(), m_graph.value(output).consumers.end());
    for (const NodeId reader : readers) around = common(around, scopeOf(reader));
    if (around == scopeOf(id) || deeper(around, outermost[id.index]) != around) return;
    const bool readAtHome = std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
      return common(std::max(0, before[reader.index]), scopeOf(id)) != around;
    });
    if (readAtHome) m_scopeOf[id.index] = around;
  }

  const Graph& m_graph;
  std::vector<ModuleScope> m_scopes;
  std::vector<int> m_depth{0};
  std::map<std::pair<std::int32_t, std::string>, std::int32_t> m_children;
  std::vector<std::int32_t> m_scopeOf;  ///< by node; -1: it names no module
  std::size_t m_said = 0;               ///< nodes that name a module
};

}  // namespace

std::vector<ModuleScope> moduleScopesOf(const Model& model) {
  return ScopeFinder(model).find();
}

}  // namespace fusescope
