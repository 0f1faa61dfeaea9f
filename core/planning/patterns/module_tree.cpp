#include "planning/patterns/module_tree.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/repeated_stretches.h"
#include "analysis/structural_key.h"
#include "base/text.h"
#include "ir/graph.h"
#include "planning/patterns/module_paths.h"
#include "planning/patterns/module_scopes.h"

namespace fusescope {

namespace {

constexpr std::size_t kLeastNodes = 2;       // of a block
constexpr std::size_t kLeastRepeated = 4;    // of a block in a run
constexpr std::size_t kMostCopies = 256;     // in a run that was found by structure
constexpr std::size_t kMostRepeated = 1024;  // nodes of a block that was found by structure

bool isIndex(std::string_view part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
}

bool isNumbered(std::string_view part) {
  return !part.empty() && part.back() >= '0' && part.back() <= '9';
}

/// Returns "layer.0…11" for "layer.0" and "layer.11", or "stem … head" if they differ in more than the last number.
std::string nameOfRun(const std::string& first, const std::string& last) {
  const auto beforeNumber = [](std::string_view name) {
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
  };
  const std::string_view shared = beforeNumber(first);
  if (shared == beforeNumber(last) && isNumbered(last)) return first + "…" + last.substr(shared.size());
  return first + " … " + last;
}

using Parts = std::vector<std::string>;

std::string joinedFrom(const Parts& parts, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (i == begin ? "" : ".") + parts[i];
  return isIndex(parts[begin]) ? "block " + text : text;
}

/// Returns where the name with the last part `last` begins, because an index needs the part before it.
std::size_t nameBegin(const Parts& parts, std::size_t last) {
  while (last > 0 && isIndex(parts[last])) --last;
  return last;
}

/// Returns "attention" for "encoder.layer.3.attention", and "layer.3" for "encoder.layer.3".
std::string nameOfPath(const Parts& parts) {
  return joinedFrom(parts, nameBegin(parts, parts.size() - 1), parts.size());
}

/// Returns "layer.3 · attention.self" for "encoder.layer.3.attention.self": the parts up to the innermost numbered part
/// before its own name, beginning with the outermost numbered one, and the parts inside that.
std::string titleOfPath(const Parts& parts) {
  const std::size_t own = nameBegin(parts, parts.size() - 1);
  std::size_t first = own, last = 0;
  for (std::size_t i = 0; i < own; ++i) {
    if (!isNumbered(parts[i])) continue;
    first = std::min(first, i);
    last = i;
  }
  if (first == own) return nameOfPath(parts);
  return joinedFrom(parts, nameBegin(parts, first), last + 1) + " · " + joinedFrom(parts, last + 1, parts.size());
}

class ModuleTreeMaker {
 public:
  explicit ModuleTreeMaker(const Model& model)
      : m_graph(*model.graph),
        m_scopes(moduleScopesOf(model)),
        m_place(m_graph.nodeIdLimit(), 0),
        m_mark(m_graph.nodeIdLimit(), 0) {
    std::uint32_t place = 0;
    for (const NodeId id : m_graph.order()) m_place[id.index] = place++;
  }

  ModuleTree make() {
    if (!m_scopes.empty()) addInside(0, -1);
    // The modules are not useful, because they are called in many places.
    if (2 * nodesInBlocks() < m_graph.nodeCount()) {
      m_tree = {};
      m_tree.byStructure = true;
      addRepeats();
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

  std::size_t nodesInBlocks() const {
    std::size_t nodes = 0;
    for (const Module& module : m_tree.modules)
      if (module.parent < 0) nodes += module.nodes.size();
    return nodes;
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

  /// Adds the blocks in a scope to the block `parent`.
  void addInside(std::int32_t scope, std::int32_t parent) {
    std::vector<Candidate> candidates;
    addCandidates(scope, candidates);
    if (candidates.size() == 1 && candidates.front().nodes.size() == nodesAround(parent))
      return addInside(candidates.front().scope, parent);
    std::sort(candidates.begin(), candidates.end(), [&](const Candidate& a, const Candidate& b) {
      return m_place[a.nodes.front().index] < m_place[b.nodes.front().index];
    });
    for (std::size_t begin = 0; begin < candidates.size();) {
      const std::size_t end = runFrom(candidates, begin);
      const std::int32_t around = end - begin < 2 ? parent : runAround(candidates, begin, end, parent);
      for (; begin < end; ++begin) addScope(candidates[begin], around);
    }
  }

  /// If the network leaves a module and returns to it, because the module is called several times or is a list of
  /// modules that are called in different places, it is not a block; modules in it may be.
  void addCandidates(std::int32_t scope, std::vector<Candidate>& candidates) {
    for (const std::int32_t child : m_scopes[static_cast<std::size_t>(scope)].children) {
      Candidate candidate{.scope = child, .nodes = nodesOf(child), .structure = {}};
      if (candidate.nodes.size() < kLeastNodes) continue;
      if (!isConvex(candidate.nodes)) {
        addCandidates(child, candidates);
        continue;
      }
      candidate.structure = structureOf(candidate.nodes);
      candidates.push_back(std::move(candidate));
    }
  }

  /// Returns the end of the run that begins at `begin`: blocks of one structure, such that no path leaves one for
  /// another block and returns.
  std::size_t runFrom(const std::vector<Candidate>& candidates, std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < candidates.size() && candidates[begin].nodes.size() >= kLeastRepeated &&
           candidates[end].structure == candidates[begin].structure && isConvex(nodesOf(candidates, end - 1, end + 1)))
      ++end;
    return end - begin > 2 && !isConvex(nodesOf(candidates, begin, end)) ? begin + 1 : end;
  }

  std::vector<NodeId> nodesOf(const std::vector<Candidate>& candidates, std::size_t begin, std::size_t end) const {
    std::vector<NodeId> nodes;
    for (; begin < end; ++begin)
      nodes.insert(nodes.end(), candidates[begin].nodes.begin(), candidates[begin].nodes.end());
    sortByPlace(nodes);
    return nodes;
  }

  /// Returns whether no path through the network leaves these nodes and returns to them.
  bool isConvex(const std::vector<NodeId>& nodes) {
    const std::size_t first = m_place[nodes.front().index], last = m_place[nodes.back().index];
    if (last - first + 1 == nodes.size()) return true;
    const std::uint32_t inside = ++m_stamp, outside = ++m_stamp;
    for (const NodeId node : nodes) m_mark[node.index] = inside;
    for (std::size_t place = first; place <= last; ++place) {
      const NodeId id = m_graph.order()[place];
      const bool within = m_mark[id.index] == inside;
      for (const ValueId input : operands(m_graph.node(id))) {
        const NodeId producer = input.valid() ? m_graph.value(input).producer : NodeId();
        if (!producer.valid()) continue;
        const std::uint32_t mark = m_mark[producer.index];
        if (within && mark == outside) return false;
        if (!within && mark >= inside) m_mark[id.index] = outside;
      }
    }
    return true;
  }

  void addScope(Candidate& candidate, std::int32_t parent) {
    const Parts parts = partsOf(candidate.scope);
    const std::int32_t module = add({.path = joined(parts, "."),
                                     .name = nameOfPath(parts),
                                     .title = titleOfPath(parts),
                                     .parent = parent,
                                     .children = {},
                                     .nodes = std::move(candidate.nodes)});
    addInside(candidate.scope, module);
  }

  /// Makes the run of the candidates from `begin` to `end`. A block that would contain nothing else becomes the run
  /// itself.
  std::int32_t runAround(const std::vector<Candidate>& candidates, std::size_t begin, std::size_t end,
                         std::int32_t parent) {
    const std::vector<std::string> first = partsOf(candidates[begin].scope), last = partsOf(candidates[end - 1].scope);
    const std::string name = nameOfRun(nameOfPath(first), nameOfPath(last));
    Module run{.path = joined(first, ".") + "…" + last.back(),
               .name = name,
               .title = name,
               .parent = parent,
               .children = {},
               .nodes = nodesOf(candidates, begin, end),
               .isRun = true};
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

  /// Returns operators and attributes of each node, and from which of these nodes each input comes. Blocks of one
  /// structure may read different numbers of values from outside, as the layers of a DenseNet do.
  std::vector<std::uint32_t> structureOf(const std::vector<NodeId>& nodes) {
    constexpr std::uint32_t kConstant = UINT32_MAX, kOutside = kConstant - 1, kNone = kConstant - 2;
    std::unordered_map<std::uint32_t, std::uint32_t> within;
    std::vector<std::uint32_t> structure;
    const auto partOf = [&](ValueId input) {
      if (!input.valid()) return kNone;
      if (m_graph.isConstant(input)) return kConstant;
      const auto producer = within.find(m_graph.value(input).producer.index);
      return producer == within.end() ? kOutside : producer->second;
    };
    for (const NodeId id : nodes) {
      const Node& node = m_graph.node(id);
      structure.push_back(operatorOf(node));
      for (const ValueId input : node.inputs)
        if (const std::uint32_t part = partOf(input); part != kOutside || structure.back() != kOutside)
          structure.push_back(part);
      structure.push_back(kNone);
      within.emplace(id.index, static_cast<std::uint32_t>(within.size()));
    }
    return structure;
  }

  std::uint32_t operatorOf(const Node& node) {
    return m_operators.try_emplace(operatorKey(node), static_cast<std::uint32_t>(m_operators.size())).first->second;
  }

  // Blocks by structure.
  void addRepeats() {
    std::vector<std::uint32_t> keys;
    for (const NodeId id : m_graph.order()) keys.push_back(operatorOf(m_graph.node(id)));
    std::size_t block = 1;
    for (const RepeatedStretch& stretch : repeatedStretches(keys, kLeastRepeated, kMostRepeated)) {
      const std::int32_t all = addRepeated(stretch, 0, stretch.times, block, -1, stretch.times <= kMostCopies);
      // A person cannot look at thousands of copies at once, so they are divided into about as many runs as each has
      // copies.
      const auto some = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(stretch.times))));
      for (std::size_t copy = 0; stretch.times > kMostCopies && copy < stretch.times; copy += some)
        addCopies(stretch, copy, std::min(stretch.times, copy + some), block,
                  addRepeated(stretch, copy, std::min(stretch.times, copy + some), block, all, true));
      if (stretch.times <= kMostCopies) addCopies(stretch, 0, stretch.times, block, all);
      block += stretch.times;
    }
  }

  void addCopies(const RepeatedStretch& stretch, std::size_t begin, std::size_t end, std::size_t block,
                 std::int32_t parent) {
    for (; begin < end; ++begin) addRepeated(stretch, begin, begin + 1, block, parent, false);
  }

  /// Adds the copies from `begin` to `end`. `block` is the number of the first one in the stretch.
  std::int32_t addRepeated(const RepeatedStretch& stretch, std::size_t begin, std::size_t end, std::size_t block,
                           std::int32_t parent, bool isRun) {
    const auto at = m_graph.order().begin() + static_cast<std::ptrdiff_t>(stretch.begin);
    const std::string first = std::to_string(block + begin), last = std::to_string(block + end - 1);
    const bool one = end - begin == 1;
    const std::string name = one ? "block " + first : nameOfRun("block " + first, "block " + last);
    return add({.path = "block." + first + (one ? "" : "…" + last),
                .name = name,
                .title = name,
                .parent = parent,
                .children = {},
                .nodes = std::vector<NodeId>(at + static_cast<std::ptrdiff_t>(begin * stretch.length),
                                             at + static_cast<std::ptrdiff_t>(end * stretch.length)),
                .isRun = isRun && !one});
  }

  const Graph& m_graph;
  std::vector<ModuleScope> m_scopes;  ///< the outermost first; none: the network names no modules
  std::vector<std::uint32_t> m_place;
  std::unordered_map<std::string, std::uint32_t> m_operators;
  std::vector<std::uint32_t> m_mark;  ///< by node, of isConvex()
  std::uint32_t m_stamp = 0;
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
