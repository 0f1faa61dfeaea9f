#include "planning/module_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/fingerprint.h"
#include "analysis/repeated_stretches.h"
#include "base/text.h"
#include "planning/module_paths.h"
#include "planning/module_scopes.h"

namespace fusescope {

namespace {

constexpr std::size_t kLeastNodes = 2;       // of a block
constexpr std::size_t kLeastRepeated = 4;    // of a block in a run
constexpr std::size_t kMostRepeated = 1024;  // nodes of a block that structure alone tells

bool isIndex(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "attention" of "encoder.layer.3.attention", "layer.3" of "encoder.layer.3".
std::string nameOfPath(const std::vector<std::string>& parts) {
  const bool indexed = parts.size() > 1 && isIndex(parts.back());
  return indexed ? parts[parts.size() - 2] + "." + parts.back() : parts.back();
}

/// "layer.3 · attention.self" of "encoder.layer.3.attention.self".
std::string titleOfPath(const std::vector<std::string>& parts) {
  for (std::size_t i = parts.size() - 1; i > 1; --i) {
    if (!isIndex(parts[i - 1])) continue;
    std::string inside;
    for (std::size_t k = i; k < parts.size(); ++k) inside += (inside.empty() ? "" : ".") + parts[k];
    return parts[i - 2] + "." + parts[i - 1] + " · " + inside;
  }
  return nameOfPath(parts);
}

class ModuleTreeMaker {
 public:
  explicit ModuleTreeMaker(const Model& model)
      : m_graph(*model.graph), m_scopes(moduleScopesOf(model)), m_place(m_graph.nodeIdLimit(), 0) {
    std::uint32_t place = 0;
    for (const NodeId id : m_graph.order()) m_place[id.index] = place++;
  }

  ModuleTree make() {
    if (m_scopes.empty()) {
      m_tree.byStructure = true;
      addRepeats();
    } else {
      addInside(0, -1);
    }
    m_tree.moduleOf.assign(m_graph.nodeIdLimit(), -1);
    for (std::size_t m = 0; m < m_tree.modules.size(); ++m)
      for (const NodeId node : m_tree.modules[m].nodes) m_tree.moduleOf[node.index] = static_cast<std::int32_t>(m);
    return std::move(m_tree);
  }

 private:
  std::int32_t add(Module module) {
    const auto number = static_cast<std::int32_t>(m_tree.modules.size());
    if (module.parent >= 0) m_tree.modules[static_cast<std::size_t>(module.parent)].children.push_back(number);
    m_tree.modules.push_back(std::move(module));
    return number;
  }

  std::size_t nodesAround(std::int32_t parent) const {
    return parent < 0 ? m_graph.nodeCount() : m_tree.modules[static_cast<std::size_t>(parent)].nodes.size();
  }

  /// A scope that may become a block.
  struct Candidate {
    std::int32_t scope;
    std::vector<NodeId> nodes;
    std::vector<std::uint32_t> structure;  ///< equal: blocks of one structure
  };

  /// The blocks within a scope, in the block `parent`.
  void addInside(std::int32_t scope, std::int32_t parent) {
    std::vector<Candidate> candidates;
    for (const std::int32_t child : m_scopes[static_cast<std::size_t>(scope)].children) {
      Candidate candidate{.scope = child, .nodes = nodesOf(child), .structure = {}};
      if (candidate.nodes.size() < kLeastNodes) continue;
      if (candidate.nodes.size() == nodesAround(parent)) return addInside(child, parent);
      candidate.structure = structureOf(candidate.nodes);
      candidates.push_back(std::move(candidate));
    }
    std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
      return m_place[a.nodes.front().index] < m_place[b.nodes.front().index];
    });
    for (std::size_t begin = 0; begin < candidates.size();) {
      std::size_t end = begin + 1;
      while (end < candidates.size() && candidates[begin].nodes.size() >= kLeastRepeated &&
             candidates[end].structure == candidates[begin].structure)
        ++end;
      const std::int32_t around = end - begin < 2 ? parent : runAround(candidates, begin, end, parent);
      for (; begin < end; ++begin) addScope(candidates[begin], around);
    }
  }

  void addScope(Candidate& candidate, std::int32_t parent) {
    const std::vector<std::string> parts = partsOf(candidate.scope);
    const std::int32_t module = add({.path = joined(parts, "."),
                                     .name = nameOfPath(parts),
                                     .title = titleOfPath(parts),
                                     .parent = parent,
                                     .children = {},
                                     .nodes = std::move(candidate.nodes)});
    addInside(candidate.scope, module);
  }

  /// The run of the candidates from `begin` to `end`. A block that would hold nothing else becomes the run.
  std::int32_t runAround(const std::vector<Candidate>& candidates, std::size_t begin, std::size_t end,
                         std::int32_t parent) {
    const std::vector<std::string> first = partsOf(candidates[begin].scope), last = partsOf(candidates[end - 1].scope);
    Module run{.path = joined(first, ".") + "…" + last.back(),
               .name = nameOfPath(first) + " … " + nameOfPath(last),
               .title = nameOfPath(first) + " … " + nameOfPath(last),
               .parent = parent,
               .children = {},
               .nodes = {},
               .isRun = true};
    for (std::size_t i = begin; i < end; ++i)
      run.nodes.insert(run.nodes.end(), candidates[i].nodes.begin(), candidates[i].nodes.end());
    sortByPlace(run.nodes);
    if (parent < 0 || run.nodes.size() < nodesAround(parent)) return add(std::move(run));
    Module& around = m_tree.modules[static_cast<std::size_t>(parent)];
    around.isRun = true;
    around.name = run.name;
    around.title = run.title;
    return parent;
  }

  std::vector<std::string> partsOf(std::int32_t scope) const {
    std::vector<std::string> parts;
    for (; scope > 0; scope = m_scopes[static_cast<std::size_t>(scope)].parent)
      parts.push_back(m_scopes[static_cast<std::size_t>(scope)].part);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }

  std::vector<NodeId> nodesOf(std::int32_t scope) const {
    std::vector<NodeId> nodes;
    std::vector<std::int32_t> open{scope};
    while (!open.empty()) {
      const ModuleScope& at = m_scopes[static_cast<std::size_t>(open.back())];
      open.pop_back();
      nodes.insert(nodes.end(), at.nodes.begin(), at.nodes.end());
      open.insert(open.end(), at.children.begin(), at.children.end());
    }
    sortByPlace(nodes);
    return nodes;
  }

  void sortByPlace(std::vector<NodeId>& nodes) const {
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) { return m_place[a.index] < m_place[b.index]; });
  }

  /// Operators and attributes node by node, and which of these nodes each input comes from.
  std::vector<std::uint32_t> structureOf(const std::vector<NodeId>& nodes) {
    std::unordered_map<std::uint32_t, std::uint32_t> within;
    std::vector<std::uint32_t> structure;
    for (const NodeId id : nodes) {
      const Node& node = m_graph.node(id);
      structure.push_back(operatorOf(node));
      structure.push_back(static_cast<std::uint32_t>(node.inputs.size()));
      for (const ValueId input : node.inputs) {
        const auto producer = input.valid() ? within.find(m_graph.value(input).producer.index) : within.end();
        structure.push_back(producer == within.end() ? 0 : producer->second);
      }
      within.emplace(id.index, static_cast<std::uint32_t>(within.size() + 1));
    }
    return structure;
  }

  std::uint32_t operatorOf(const Node& node) {
    return m_operators.try_emplace(operatorKey(node), static_cast<std::uint32_t>(m_operators.size())).first->second;
  }

  // ---- by structure ----
  void addRepeats() {
    std::vector<std::uint32_t> keys;
    for (const NodeId id : m_graph.order()) keys.push_back(operatorOf(m_graph.node(id)));
    std::size_t block = 1;
    for (const RepeatedStretch& stretch : repeatedStretches(keys, kLeastRepeated, kMostRepeated)) {
      const auto at = m_graph.order().begin() + static_cast<std::ptrdiff_t>(stretch.begin);
      const std::string first = std::to_string(block), last = std::to_string(block + stretch.times - 1);
      const std::string name = "block " + first + " … block " + last;
      const std::int32_t run =
          add({.path = "block." + first + "…" + last,
               .name = name,
               .title = name,
               .parent = -1,
               .children = {},
               .nodes = std::vector<NodeId>(at, at + static_cast<std::ptrdiff_t>(stretch.length * stretch.times)),
               .isRun = true});
      for (std::size_t copy = 0; copy < stretch.times; ++copy, ++block) {
        const auto begin = at + static_cast<std::ptrdiff_t>(copy * stretch.length);
        const std::string title = "block " + std::to_string(block);
        add({.path = "block." + std::to_string(block),
             .name = title,
             .title = title,
             .parent = run,
             .children = {},
             .nodes = std::vector<NodeId>(begin, begin + static_cast<std::ptrdiff_t>(stretch.length))});
      }
    }
  }

  const Graph& m_graph;
  std::vector<ModuleScope> m_scopes;  ///< the outermost first; none: the network names no modules
  std::vector<std::uint32_t> m_place;
  std::unordered_map<std::string, std::uint32_t> m_operators;
  ModuleTree m_tree;
};

}  // namespace

std::int32_t ModuleTree::find(std::string_view path) const {
  const auto found = std::find_if(modules.begin(), modules.end(), [&](const Module& m) { return m.path == path; });
  return found == modules.end() ? -1 : static_cast<std::int32_t>(found - modules.begin());
}

std::shared_ptr<const ModuleTree> ModuleTree::body(NodeId holder, std::string_view attribute) const {
  const auto found = std::find_if(bodies.begin(), bodies.end(), [&](const Body& body) {
    return body.holder == holder && body.attribute == attribute;
  });
  return found == bodies.end() ? nullptr : found->tree;
}

ModuleTree moduleTreeOf(const Model& model) {
  ModuleTree tree = ModuleTreeMaker(model).make();
  for (const ModelBody& body : model.bodies)
    tree.bodies.push_back({body.holder, body.attribute, std::make_shared<const ModuleTree>(moduleTreeOf(*body.model))});
  return tree;
}

}  // namespace fusescope
