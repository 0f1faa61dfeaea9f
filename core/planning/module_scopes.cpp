#include "planning/module_scopes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "planning/module_paths.h"

namespace fusescope {

namespace {

constexpr std::size_t kDeepest = 24;  // modules within each other; what is deeper is in the last of them

class ScopeFinder {
 public:
  explicit ScopeFinder(const Model& model) : m_graph(*model.graph), m_scopeOf(m_graph.nodeIdLimit(), -1) {
    m_scopes.emplace_back();
    for (const NodeId id : m_graph.order()) {
      const std::string module = moduleOf(model, m_graph.node(id));
      if (module.empty()) continue;
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

  const Graph& m_graph;
  std::vector<ModuleScope> m_scopes;
  std::vector<int> m_depth{0};
  std::map<std::pair<std::int32_t, std::string>, std::int32_t> m_children;
  std::vector<std::int32_t> m_scopeOf;  ///< by node; -1: it says none
  std::size_t m_said = 0;               ///< nodes that say one
};

}  // namespace

std::vector<ModuleScope> moduleScopesOf(const Model& model) {
  return ScopeFinder(model).find();
}

}  // namespace fusescope
