#include "compilers/torch/node_ties.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "ir/graph.h"

namespace fusescope::torch_compiler {
namespace {

/// Returns "relu" for "aten.relu_.default": an operator that writes into its input counts as the same operator.
std::string operatorOf(std::string_view target) {
  std::string_view name = target;
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  name = name.substr(0, name.find('.'));
  while (name.ends_with('_')) name.remove_suffix(1);
  while (name.starts_with('_')) name.remove_prefix(1);
  return std::string(name);
}

class Tying {
 public:
  Tying(std::span<const NodeOrigin> nodes, std::span<const NodeOrigin> all)
      : m_nodes(nodes), m_all(all), m_ties(nodes.size()), m_isTied(all.size(), false) {}

  std::vector<std::optional<Tie>> run() {
    byName();
    byPlace(true, Certainty::Derived);
    byPlace(false, Certainty::Guessed);
    return std::move(m_ties);
  }

 private:
  /// The lines of source, the module and, if it matters, the operator.
  using Key = std::tuple<std::string, std::string, std::string>;
  static Key keyOf(const NodeOrigin& node, bool withOperator) {
    return {node.trace, node.module, withOperator ? operatorOf(node.target) : std::string()};
  }

  void byName() {
    std::map<std::string_view, std::size_t> named;
    for (std::size_t i = 0; i < m_all.size(); ++i) named.emplace(m_all[i].name, i);
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
      const NodeOrigin& node = m_nodes[i];
      const auto same = named.find(node.name);
      if (node.name.empty() || same == named.end()) continue;
      const NodeOrigin& other = m_all[same->second];
      if (node.target != other.target || node.trace != other.trace) continue;
      m_ties[i] = Tie{same->second, Certainty::Named};
      m_isTied[same->second] = true;
    }
  }

  /// Ties nodes that are not tied yet by their origin. Nodes of `nodes` with the same name count as one node.
  void byPlace(bool withOperator, Certainty certainty) {
    std::map<Key, std::vector<std::vector<std::size_t>>> here;
    std::map<Key, std::map<std::string_view, std::size_t>> numbers;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
      if (m_ties[i] || m_nodes[i].name.empty() || m_nodes[i].trace.empty()) continue;
      const Key key = keyOf(m_nodes[i], withOperator);
      auto& groups = here[key];
      const auto [number, isNew] = numbers[key].emplace(m_nodes[i].name, groups.size());
      if (isNew) groups.emplace_back();
      groups[number->second].push_back(i);
    }
    std::map<Key, std::vector<std::size_t>> there;
    for (std::size_t i = 0; i < m_all.size(); ++i)
      if (!m_isTied[i] && m_all[i].target.find("_assert") == std::string::npos)
        there[keyOf(m_all[i], withOperator)].push_back(i);
    for (const auto& [key, groups] : here)
      if (const auto found = there.find(key); found != there.end()) tie(groups, found->second, certainty);
  }

  void tie(const std::vector<std::vector<std::size_t>>& groups, const std::vector<std::size_t>& there,
           Certainty certainty) {
    const bool isOnly = there.size() == 1;
    if (!isOnly && groups.size() != there.size()) return;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const std::size_t node : groups[i]) {
        const std::size_t other = there[isOnly ? 0 : i];
        m_ties[node] = Tie{other, isOnly ? Certainty::Derived : certainty};
        m_isTied[other] = true;
      }
  }

  std::span<const NodeOrigin> m_nodes, m_all;
  std::vector<std::optional<Tie>> m_ties;
  std::vector<bool> m_isTied;
};

}  // namespace

std::vector<std::optional<Tie>> tiesOf(std::span<const NodeOrigin> nodes, std::span<const NodeOrigin> all) {
  return Tying(nodes, all).run();
}

Certainty weaker(Certainty a, Certainty b) {
  return std::max(a, b);
}

}  // namespace fusescope::torch_compiler
