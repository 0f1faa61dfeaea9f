#include "planning/read_back/stated_support.h"

#include <unordered_map>

#include "ir/graph.h"

namespace fusescope {

CompilerSupport nothingStated(const Graph& graph) {
  return statedAboutAll(graph, {});
}

CompilerSupport statedAboutAll(const Graph& graph, CompilerSupport support) {
  std::unordered_map<std::string, NodeSupport> byNode;
  for (NodeSupport& said : support.nodes) {
    std::string node = said.node;
    byNode.emplace(std::move(node), std::move(said));
  }
  CompilerSupport all;
  for (const NodeId id : graph.order()) {
    const std::string& name = graph.node(id).name;
    const auto said = byNode.find(name);
    all.nodes.push_back(said != byNode.end() ? std::move(said->second) : NodeSupport{.node = name, .isAccepted = {}});
  }
  return all;
}

}  // namespace fusescope
