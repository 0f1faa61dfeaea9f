#include "diff/network_match.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/fingerprint.h"
#include "base/text.h"
#include "diff/node_labels.h"

namespace fusescope {

namespace {

/// One of the two networks, and what is looked up in it again and again.
struct Side {
  explicit Side(const Graph& of) : graph(of), links(linksOf(of)), strict(fingerprints(of, Likeness::Strict)) {}
  const std::vector<std::uint64_t>& own(Likeness likeness) {
    if (likeness == Likeness::Strict) return strict;
    if (loose.empty()) loose = fingerprints(graph, Likeness::Loose);
    return loose;
  }

  const Graph& graph;
  NodeLinks links;
  std::vector<std::uint64_t> strict, loose;
  BorderLabels borders;
};

/// Names mislead where structure alone makes this part of all edges agree that names make disagree. Less may come of
/// where a block is cut out: structure puts the cut where it cuts fewest edges, names where it is.
constexpr std::size_t kMisledShare = 10;

struct Pairs {
  std::vector<NodeId> ofA, ofB;  ///< by NodeId of A and of B: the counterpart
  std::vector<MatchedBy> how;    ///< by NodeId of A
  std::size_t count = 0;

  void add(NodeId a, NodeId b, MatchedBy by) {
    ofA[a.index] = b;
    ofB[b.index] = a;
    how[a.index] = by;
    ++count;
  }
  void drop(NodeId a) {
    ofB[ofA[a.index].index] = NodeId();
    ofA[a.index] = NodeId();
    how[a.index] = MatchedBy::Nothing;
    --count;
  }
};

bool isSameOperator(const Node& a, const Node& b) {
  return a.op == b.op && a.domain == b.domain;
}

/// Whether `reader` reads what `link` says of `from`.
bool hasRead(const Side& side, NodeId reader, NodeId from, const Link& link) {
  return std::ranges::any_of(side.links.reads[reader.index], [&](const Link& read) {
    return read.node == from && read.output == link.output && read.operand == link.operand;
  });
}

/// How far two nodes are looked around for what they are: steps towards the inputs, and towards the outputs.
struct Reach {
  int up, down;
};
/// From what says most to what says least: structure that is alike within less is not taken for the same.
constexpr auto kReaches = std::to_array<Reach>({{kWholeNetwork, kWholeNetwork},
                                                {kWholeNetwork, 8},
                                                {8, kWholeNetwork},
                                                {kWholeNetwork, 2},
                                                {2, kWholeNetwork},
                                                {kWholeNetwork, 0},
                                                {0, kWholeNetwork},
                                                {8, 8},
                                                {4, 4}});

class NetworkMatcher {
 public:
  NetworkMatcher(Side& a, Side& b)
      : m_a(a),
        m_b(b),
        m_pairs{.ofA = std::vector<NodeId>(a.graph.nodeIdLimit()),
                .ofB = std::vector<NodeId>(b.graph.nodeIdLimit()),
                .how = std::vector<MatchedBy>(a.graph.nodeIdLimit(), MatchedBy::Nothing)} {}

  Pairs byNamesFirst() {
    byName();
    byStructure(Likeness::Strict);
    byNameInPlace();
    byStructure(Likeness::Loose);
    return std::move(m_pairs);
  }

  Pairs byStructureAlone() {
    byStructure(Likeness::Strict);
    byStructure(Likeness::Loose);
    return std::move(m_pairs);
  }

 private:
  bool free(NodeId a, NodeId b) const { return !m_pairs.ofA[a.index].valid() && !m_pairs.ofB[b.index].valid(); }

  /// 1 if a node that it reads from, or that reads from it, is matched with one at the same place beside `b`, -1 if
  /// such nodes are matched with others only, 0 if none is matched; of both directions together.
  int agreement(NodeId a, NodeId b) const {
    const auto counterpart = [&](const Link& link) { return m_pairs.ofA[link.node.index]; };
    const auto isMatchedInB = [&](const Link& link) { return m_pairs.ofB[link.node.index].valid(); };
    const auto scoreOf = [&](std::vector<std::vector<Link>> NodeLinks::*direction, auto agrees) {
      const std::vector<Link>& ofA = (m_a.links.*direction)[a.index];
      bool any = std::ranges::any_of((m_b.links.*direction)[b.index], isMatchedInB);
      for (const Link& link : ofA) {
        if (!counterpart(link).valid()) continue;
        if (agrees(link)) return 1;
        any = true;
      }
      return any ? -1 : 0;
    };
    return scoreOf(&NodeLinks::reads, [&](const Link& link) { return hasRead(m_b, b, counterpart(link), link); }) +
           scoreOf(&NodeLinks::readers, [&](const Link& link) { return hasRead(m_b, counterpart(link), b, link); });
  }

  /// Pairs of one name that are alike, until none is left whose neighbours contradict.
  void byName() {
    std::deque<NodeId> unsure;
    for (const NodeId a : m_a.graph.order()) {
      const auto b = m_b.graph.findNode(m_a.graph.node(a).name);
      if (!b || m_a.strict[a.index] != m_b.strict[b->index]) continue;
      m_pairs.add(a, *b, MatchedBy::Name);
      unsure.push_back(a);
    }
    while (!unsure.empty()) {
      const NodeId a = unsure.front();
      unsure.pop_front();
      const NodeId b = m_pairs.ofA[a.index];
      if (!b.valid() || agreement(a, b) >= 0) continue;
      m_pairs.drop(a);
      for (const auto links : {&NodeLinks::reads, &NodeLinks::readers})
        for (const Link& link : (m_a.links.*links)[a.index])
          if (m_pairs.ofA[link.node.index].valid()) unsure.push_back(link.node);
    }
  }

  /// Nodes of one name and operator that something else of has changed, where no neighbour contradicts.
  void byNameInPlace() {
    for (const NodeId a : m_a.graph.order()) {
      const Node& node = m_a.graph.node(a);
      const auto b = m_b.graph.findNode(node.name);
      if (!b || !free(a, *b) || !isSameOperator(node, m_b.graph.node(*b)) || agreement(a, *b) < 0) continue;
      m_pairs.add(a, *b, MatchedBy::Name);
    }
  }

  void byStructure(Likeness likeness) {
    growFromAll(likeness, false);
    for (const Reach& reach : kReaches) {
      if (m_pairs.count == std::min(m_a.graph.nodeCount(), m_b.graph.nodeCount())) return;
      byLabels(likeness, reach);
    }
    growFromAll(likeness, true);
  }

  std::vector<std::uint64_t> labels(Side& side, Likeness likeness, const Reach& reach) {
    const auto& own = side.own(likeness);
    std::vector<std::uint64_t> up = labelsFromInputs(side.graph, side.links, side.borders, own, reach.up);
    const auto down = labelsFromOutputs(side.graph, side.links, side.borders, own, reach.down);
    for (std::size_t i = 0; i < up.size(); ++i) up[i] = mixed(up[i], down[i]);
    return up;
  }

  /// Matches nodes whose labels no other node has that is still free; where the whole network is alike around them,
  /// those that nothing tells apart in the order of the file.
  void byLabels(Likeness likeness, const Reach& reach) {
    const auto ofA = labels(m_a, likeness, reach), ofB = labels(m_b, likeness, reach);
    std::unordered_map<std::uint64_t, std::vector<NodeId>> candidates;
    std::unordered_map<std::uint64_t, std::vector<NodeId>> alike;
    for (const NodeId b : m_b.graph.order())
      if (!m_pairs.ofB[b.index].valid()) candidates[ofB[b.index]].push_back(b);
    for (const NodeId a : m_a.graph.order())
      if (!m_pairs.ofA[a.index].valid()) alike[ofA[a.index]].push_back(a);
    const bool inOrder = reach.up == kWholeNetwork && reach.down == kWholeNetwork;
    for (const NodeId first : m_a.graph.order()) {
      if (m_pairs.ofA[first.index].valid()) continue;
      const std::vector<NodeId>& as = alike[ofA[first.index]];
      const auto found = candidates.find(ofA[first.index]);
      if (as.front() != first || found == candidates.end() || found->second.size() != as.size()) continue;
      if (as.size() > 1 && !inOrder) continue;
      for (std::size_t i = 0; i < as.size(); ++i)
        if (free(as[i], found->second[i])) match(as[i], found->second[i], likeness, false);
    }
  }

  void growFromAll(Likeness likeness, bool inOrder) {
    for (const NodeId a : m_a.graph.order())
      if (m_pairs.ofA[a.index].valid()) grow(a, likeness, inOrder);
  }

  void match(NodeId a, NodeId b, Likeness likeness, bool inOrder) {
    m_pairs.add(a, b, MatchedBy::Structure);
    grow(a, likeness, inOrder);
  }

  /// Matches along the edges of a matched node what is alike at the same place and alone there; with `inOrder` also
  /// what others are like there, in the order of the file.
  void grow(NodeId from, Likeness likeness, bool inOrder) {
    std::deque<NodeId> grown{from};
    while (!grown.empty()) {
      const NodeId a = grown.front(), b = m_pairs.ofA[a.index];
      grown.pop_front();
      for (const auto direction : {&NodeLinks::reads, &NodeLinks::readers}) {
        for (const auto& [place, nodes] : freeAround(a, b, direction, likeness)) {
          const auto& [as, bs] = nodes;
          if (bs.size() != as.size() || (as.size() > 1 && !inOrder)) continue;
          for (std::size_t i = 0; i < as.size(); ++i) {
            if (!free(as[i], bs[i])) continue;  // it reads the same twice
            m_pairs.add(as[i], bs[i], MatchedBy::Structure);
            grown.push_back(as[i]);
          }
        }
      }
    }
  }

  /// The neighbours of a pair that have no counterpart, by the output and operand between them and what they are like.
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;
  std::map<Place, std::pair<std::vector<NodeId>, std::vector<NodeId>>> freeAround(
      NodeId a, NodeId b, std::vector<std::vector<Link>> NodeLinks::*direction, Likeness likeness) {
    std::map<Place, std::pair<std::vector<NodeId>, std::vector<NodeId>>> found;
    for (const Link& link : (m_a.links.*direction)[a.index])
      if (!m_pairs.ofA[link.node.index].valid())
        found[{link.output, link.operand, m_a.own(likeness)[link.node.index]}].first.push_back(link.node);
    if (found.empty()) return found;
    for (const Link& link : (m_b.links.*direction)[b.index])
      if (!m_pairs.ofB[link.node.index].valid())
        found[{link.output, link.operand, m_b.own(likeness)[link.node.index]}].second.push_back(link.node);
    return found;
  }

  Side& m_a;
  Side& m_b;
  Pairs m_pairs;
};

std::size_t edgeCount(const Side& side) {
  std::size_t count = 0;
  for (const std::vector<Link>& reads : side.links.reads) count += reads.size();
  return count;
}

/// The edges of A whose ends' counterparts are joined in the same way.
std::size_t agreeingEdges(const Side& a, const Side& b, const Pairs& pairs) {
  std::size_t count = 0;
  for (const NodeId id : a.graph.order()) {
    const NodeId other = pairs.ofA[id.index];
    if (!other.valid()) continue;
    for (const Link& link : a.links.reads[id.index])
      if (pairs.ofA[link.node.index].valid() && hasRead(b, other, pairs.ofA[link.node.index], link)) ++count;
  }
  return count;
}

/// Inputs, or outputs, of one name where all names of the side with fewer are found; else by their place.
std::vector<std::pair<ValueId, ValueId>> borderPairs(const Graph& a, const std::vector<ValueId>& ofA, const Graph& b,
                                                     const std::vector<ValueId>& ofB) {
  std::vector<std::pair<ValueId, ValueId>> named, placed;
  for (const ValueId value : ofA) {
    const auto same = std::ranges::find(ofB, a.value(value).name, [&](ValueId id) { return b.value(id).name; });
    if (same != ofB.end()) named.emplace_back(value, *same);
  }
  if (named.size() == std::min(ofA.size(), ofB.size())) return named;
  for (std::size_t i = 0; i < std::min(ofA.size(), ofB.size()); ++i) placed.emplace_back(ofA[i], ofB[i]);
  return placed;
}

void labelBorders(Side& a, Side& b) {
  const auto label = [&](std::vector<std::uint64_t> BorderLabels::*border, const std::vector<ValueId>& ofA,
                         const std::vector<ValueId>& ofB, std::uint64_t first) {
    (a.borders.*border).assign(a.graph.valueIdLimit(), 0);
    (b.borders.*border).assign(b.graph.valueIdLimit(), 0);
    std::uint64_t next = first;
    for (const auto& [of, with] : borderPairs(a.graph, ofA, b.graph, ofB))
      (a.borders.*border)[of.index] = (b.borders.*border)[with.index] = mixed(first, ++next);
  };
  label(&BorderLabels::inputs, a.graph.inputs(), b.graph.inputs(), 16);
  label(&BorderLabels::outputs, a.graph.outputs(), b.graph.outputs(), 1U << 20);
}

/// Whether both hold the same nodes and edges under the same ids.
bool sameGraph(const Model& a, const Model& b) {
  if (a.graph == b.graph) return true;
  if (a.contentHash != b.contentHash || a.graph->order() != b.graph->order()) return false;
  return std::ranges::all_of(a.graph->order(), [&](NodeId id) {
    const Node& ofA = a.graph->node(id);
    const Node& ofB = b.graph->node(id);
    return ofA.name == ofB.name && isSameOperator(ofA, ofB) && ofA.inputs == ofB.inputs && ofA.outputs == ofB.outputs;
  });
}

void pairValues(const Graph& a, const Graph& b, NetworkMatch& match) {
  const auto pair = [&](ValueId of, ValueId with) {
    if (!of.valid() || !with.valid() || match.valueOfB[of.index].valid() || match.valueOfA[with.index].valid()) return;
    match.valueOfB[of.index] = with;
    match.valueOfA[with.index] = of;
  };
  for (const auto& [of, with] : borderPairs(a, a.inputs(), b, b.inputs())) pair(of, with);
  for (const NodeId id : a.order()) {
    const NodeId other = match.nodeOfB[id.index];
    if (!other.valid()) continue;
    const Node& ofA = a.node(id);
    const Node& ofB = b.node(other);
    for (std::size_t i = 0; i < std::min(ofA.outputs.size(), ofB.outputs.size()); ++i)
      pair(ofA.outputs[i], ofB.outputs[i]);
    for (std::size_t i = 0; i < std::min(ofA.inputs.size(), ofB.inputs.size()); ++i)
      if (a.isConstant(ofA.inputs[i]) && b.isConstant(ofB.inputs[i])) pair(ofA.inputs[i], ofB.inputs[i]);
  }
}

void identify(const Graph& graph, Pairs& pairs) {
  for (const NodeId id : graph.order()) pairs.add(id, id, MatchedBy::Id);
}

Pairs pairNodes(const Model& modelOfA, const Model& modelOfB, std::vector<NodeId>& changed) {
  const Graph& graphOfA = *modelOfA.graph;
  const Graph& graphOfB = *modelOfB.graph;
  if (sameGraph(modelOfA, modelOfB)) {
    Pairs pairs{.ofA = std::vector<NodeId>(graphOfA.nodeIdLimit()),
                .ofB = std::vector<NodeId>(graphOfB.nodeIdLimit()),
                .how = std::vector<MatchedBy>(graphOfA.nodeIdLimit(), MatchedBy::Nothing)};
    identify(graphOfA, pairs);
    return pairs;
  }
  Side a(graphOfA), b(graphOfB);
  labelBorders(a, b);
  Pairs pairs = NetworkMatcher(a, b).byNamesFirst();
  const std::size_t all = std::max(edgeCount(a), edgeCount(b)), agreeing = agreeingEdges(a, b, pairs);
  if (agreeing < all) {
    Pairs other = NetworkMatcher(a, b).byStructureAlone();
    const std::size_t agreeingToo = agreeingEdges(a, b, other);
    const bool misled = agreeingToo > agreeing + all / kMisledShare;
    if (misled || (other.count > pairs.count && agreeingToo >= agreeing)) pairs = std::move(other);
  }
  for (const NodeId id : graphOfA.order())
    if (pairs.ofA[id.index].valid() && a.strict[id.index] != b.strict[pairs.ofA[id.index].index]) changed.push_back(id);
  return pairs;
}

}  // namespace

std::int64_t NetworkMatch::count(MatchedBy by) const {
  return std::ranges::count(how, by);
}

NetworkMatch matchNetworks(const Model& a, const Model& b) {
  NetworkMatch match;
  Pairs pairs = pairNodes(a, b, match.changed);
  match.nodeOfB = std::move(pairs.ofA);
  match.nodeOfA = std::move(pairs.ofB);
  match.how = std::move(pairs.how);
  match.valueOfB.resize(a.graph->valueIdLimit());
  match.valueOfA.resize(b.graph->valueIdLimit());
  pairValues(*a.graph, *b.graph, match);
  for (const NodeId id : a.graph->order())
    if (!match.nodeOfB[id.index].valid()) match.onlyA.push_back(id);
  for (const NodeId id : b.graph->order())
    if (!match.nodeOfA[id.index].valid()) match.onlyB.push_back(id);
  return match;
}

std::string changeText(const Graph& a, NodeId nodeOfA, const Graph& b, NodeId nodeOfB) {
  const Node& ofA = a.node(nodeOfA);
  const Node& ofB = b.node(nodeOfB);
  std::vector<std::string> parts;
  const auto without = [](const Node& node, const std::string& kept) {
    Node only = node;
    std::erase_if(only.attributes, [&](const auto& entry) { return entry.first != kept; });
    return operatorKey(only);
  };
  std::map<std::string, Attribute> all = ofA.attributes;
  all.insert(ofB.attributes.begin(), ofB.attributes.end());
  for (const auto& [key, value] : all)
    if (without(ofA, key) != without(ofB, key)) parts.push_back("attribute " + key);
  for (std::size_t i = 0; i < std::max(ofA.inputs.size(), ofB.inputs.size()); ++i) {
    const auto text = [i](const Graph& graph, const Node& node) {
      const ValueId value = node.input(i);
      if (!value.valid()) return std::string("absent");
      return graph.isConstant(value) ? graph.value(value).type.text() : std::string("calculated");
    };
    const std::string before = text(a, ofA), after = text(b, ofB);
    if (before != after) parts.push_back("operand " + std::to_string(i) + " " + before + " and " + after);
  }
  return parts.empty() ? "the elements of a constant operand" : joined(parts);
}

}  // namespace fusescope
