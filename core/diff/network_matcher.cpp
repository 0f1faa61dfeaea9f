#include "diff/network_matcher.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

#include "ir/graph.h"

namespace fusescope {

const std::vector<std::uint64_t>& MatchSide::own(Likeness likeness) {
  if (likeness == Likeness::Strict) return strict;
  if (loose.empty()) loose = fingerprints(graph, Likeness::Loose);
  return loose;
}

void MatchPairs::add(NodeId a, NodeId b, MatchedBy by) {
  ofA[a.index] = b;
  ofB[b.index] = a;
  how[a.index] = by;
  ++count;
}

void MatchPairs::drop(NodeId a) {
  ofB[ofA[a.index].index] = NodeId();
  ofA[a.index] = NodeId();
  how[a.index] = MatchedBy::Nothing;
  --count;
}

bool isSameOperator(const Node& a, const Node& b) {
  return a.op == b.op && a.domain == b.domain;
}

bool hasRead(const MatchSide& side, NodeId reader, NodeId from, const Link& link) {
  return std::ranges::any_of(side.links.reads[reader.index], [&](const Link& read) {
    return read.node == from && read.output == link.output && read.operand == link.operand;
  });
}

MatchPairs NetworkMatcher::byNamesFirst() {
  byName();
  byStructure(Likeness::Strict);
  byNameInPlace();
  byStructure(Likeness::Loose);
  return std::move(m_pairs);
}

MatchPairs NetworkMatcher::byStructureAlone() {
  byStructure(Likeness::Strict);
  byStructure(Likeness::Loose);
  return std::move(m_pairs);
}

MatchPairs NetworkMatcher::around(MatchPairs known) {
  m_pairs = std::move(known);
  byNameInPlace();
  growFromAll(Likeness::Strict, false);
  growFromAll(Likeness::Strict, true);
  return std::move(m_pairs);
}

/// Returns 1 if a neighbour of the node is matched with the neighbour of `b` at the same place, -1 if neighbours are
/// matched only with other nodes, and 0 if none is matched. Inputs and outputs are considered together.
int NetworkMatcher::agreement(NodeId a, NodeId b) const {
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

/// Matches nodes with equal names that are alike, and repeats this until no pair is left whose neighbours contradict.
void NetworkMatcher::byName() {
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

/// Matches nodes with equal names and operators that differ otherwise, if no neighbour contradicts.
void NetworkMatcher::byNameInPlace() {
  for (const NodeId a : m_a.graph.order()) {
    const Node& node = m_a.graph.node(a);
    const auto b = m_b.graph.findNode(node.name);
    if (!b || !free(a, *b) || !isSameOperator(node, m_b.graph.node(*b)) || agreement(a, *b) < 0) continue;
    m_pairs.add(a, *b, MatchedBy::Name);
  }
}

void NetworkMatcher::byStructure(Likeness likeness) {
  // From the most reliable to the least reliable: nodes that are alike within a smaller distance are less certainly the
  // same.
  static constexpr auto kReaches = std::to_array<Reach>({{kWholeNetwork, kWholeNetwork},
                                                         {kWholeNetwork, 8},
                                                         {8, kWholeNetwork},
                                                         {kWholeNetwork, 2},
                                                         {2, kWholeNetwork},
                                                         {kWholeNetwork, 0},
                                                         {0, kWholeNetwork},
                                                         {8, 8},
                                                         {4, 4}});
  growFromAll(likeness, false);
  for (const Reach& reach : kReaches) {
    if (m_pairs.count == std::min(m_a.graph.nodeCount(), m_b.graph.nodeCount())) return;
    byLabels(likeness, reach);
  }
  growFromAll(likeness, true);
}

std::vector<std::uint64_t> NetworkMatcher::labels(MatchSide& side, Likeness likeness, const Reach& reach) {
  const auto& own = side.own(likeness);
  std::vector<std::uint64_t> up = labelsFromInputs(side.graph, side.links, side.borders, own, reach.up);
  const auto down = labelsFromOutputs(side.graph, side.links, side.borders, own, reach.down);
  for (std::size_t i = 0; i < up.size(); ++i) up[i] = mixed(up[i], down[i]);
  return up;
}

/// Matches nodes whose labels no other free node has. If the whole network around them is alike, nodes that cannot be
/// distinguished are matched in the order of the file.
void NetworkMatcher::byLabels(Likeness likeness, const Reach& reach) {
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

void NetworkMatcher::growFromAll(Likeness likeness, bool inOrder) {
  for (const NodeId a : m_a.graph.order())
    if (m_pairs.ofA[a.index].valid()) grow(a, likeness, inOrder);
}

void NetworkMatcher::match(NodeId a, NodeId b, Likeness likeness, bool inOrder) {
  m_pairs.add(a, b, MatchedBy::Structure);
  grow(a, likeness, inOrder);
}

/// Follows the edges of a matched node and matches nodes that are alike at the same place and the only ones there. If
/// `inOrder` is set, several nodes at one place are matched in the order of the file.
void NetworkMatcher::grow(NodeId from, Likeness likeness, bool inOrder) {
  std::deque<NodeId> grown{from};
  while (!grown.empty()) {
    const NodeId a = grown.front(), b = m_pairs.ofA[a.index];
    grown.pop_front();
    for (const auto direction : {&NodeLinks::reads, &NodeLinks::readers}) {
      for (const auto& [place, nodes] : freeAround(a, b, direction, likeness)) {
        const auto& [as, bs] = nodes;
        if (bs.size() != as.size() || (as.size() > 1 && !inOrder)) continue;
        for (std::size_t i = 0; i < as.size(); ++i) {
          if (!free(as[i], bs[i])) continue;  // the node reads the same value twice
          m_pairs.add(as[i], bs[i], MatchedBy::Structure);
          grown.push_back(as[i]);
        }
      }
    }
  }
}

/// Returns the neighbours of a pair that have no counterpart, by the output and operand between them and by their
/// labels.
std::map<NetworkMatcher::Place, std::pair<std::vector<NodeId>, std::vector<NodeId>>> NetworkMatcher::freeAround(
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

}  // namespace fusescope
