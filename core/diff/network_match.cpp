#include "diff/network_match.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/structural_key.h"
#include "base/text.h"
#include "diff/network_matcher.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// Names are misleading if structure alone gives agreement for this share of all edges that names do not give. Smaller
/// differences may occur where a block is cut out: structure puts the cut where it cuts the fewest edges, names put it
/// where it is.
constexpr std::size_t kMisledShare = 10;

std::size_t edgeCount(const MatchSide& side) {
  std::size_t count = 0;
  for (const std::vector<Link>& reads : side.links.reads) count += reads.size();
  return count;
}

/// Returns the number of A's edges whose counterparts of both ends are joined in the same way.
std::size_t agreeingEdges(const MatchSide& a, const MatchSide& b, const MatchPairs& pairs) {
  std::size_t count = 0;
  for (const NodeId id : a.graph.order()) {
    const NodeId other = pairs.ofA[id.index];
    if (!other.valid()) continue;
    for (const Link& link : a.links.reads[id.index])
      if (pairs.ofA[link.node.index].valid() && hasRead(b, other, pairs.ofA[link.node.index], link)) ++count;
  }
  return count;
}

/// Pairs inputs, or outputs, by name if all names of the side with fewer are found; otherwise by their position.
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

void labelBorders(MatchSide& a, MatchSide& b) {
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

/// Returns whether both contain the same nodes and edges with the same ids.
bool sameGraph(const Model& a, const Model& b) {
  if (a.graph == b.graph) return true;
  if (a.contentHash != b.contentHash || a.graph->order() != b.graph->order()) return false;
  return std::ranges::all_of(a.graph->order(), [&](NodeId id) {
    const Node& ofA = a.graph->node(id);
    const Node& ofB = b.graph->node(id);
    return ofA.name == ofB.name && isSameOperator(ofA, ofB) && ofA.inputs == ofB.inputs && ofA.outputs == ofB.outputs;
  });
}

void pairValue(ValueId of, ValueId with, NetworkMatch& match) {
  if (!of.valid() || !with.valid() || match.valueOfB[of.index].valid() || match.valueOfA[with.index].valid()) return;
  match.valueOfB[of.index] = with;
  match.valueOfA[with.index] = of;
}

void pairValues(const Graph& a, const Graph& b, NetworkMatch& match) {
  const auto pair = [&](ValueId of, ValueId with) { pairValue(of, with, match); };
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

/// Pairs the values that the files have, because they keep their meaning when codes are inserted beside them.
void pairKept(const Graph& a, const Graph& b, const NetworkMatch& files, NetworkMatch& match) {
  for (std::size_t i = 0; i < files.valueOfB.size(); ++i)
    if (a.has(ValueId(i)) && files.valueOfB[i].valid() && b.has(files.valueOfB[i]))
      pairValue(ValueId(i), files.valueOfB[i], match);
}

MatchPairs identified(const Graph& a, const Graph& b) {
  MatchPairs pairs(a, b);
  for (const NodeId id : a.order()) pairs.add(id, id, MatchedBy::Id);
  return pairs;
}

void addChanged(const MatchSide& a, const MatchSide& b, const MatchPairs& pairs, std::vector<NodeId>& changed) {
  for (const NodeId id : a.graph.order())
    if (pairs.ofA[id.index].valid() && a.strict[id.index] != b.strict[pairs.ofA[id.index].index]) changed.push_back(id);
}

/// Codes were inserted on one side or on both. What the files contain is matched as `files` says, and inserted nodes by
/// what is around them.
MatchPairs pairCodes(const Graph& graphOfA, const Graph& graphOfB, const NetworkMatch& files,
                     std::vector<NodeId>& changed) {
  MatchPairs pairs(graphOfA, graphOfB);
  for (const NodeId id : graphOfA.order()) {
    if (id.index >= files.nodeOfB.size()) continue;
    const NodeId other = files.nodeOfB[id.index];
    if (other.valid() && graphOfB.has(other)) pairs.add(id, other, files.how[id.index]);
  }
  MatchSide a(graphOfA), b(graphOfB);
  pairs = NetworkMatcher(a, b).around(std::move(pairs));
  addChanged(a, b, pairs, changed);
  return pairs;
}

MatchPairs pairNodes(const Graph& graphOfA, const Graph& graphOfB, std::vector<NodeId>& changed) {
  MatchSide a(graphOfA), b(graphOfB);
  labelBorders(a, b);
  MatchPairs pairs = NetworkMatcher(a, b).byNamesFirst();
  const std::size_t all = std::max(edgeCount(a), edgeCount(b)), agreeing = agreeingEdges(a, b, pairs);
  if (agreeing < all) {
    MatchPairs other = NetworkMatcher(a, b).byStructureAlone();
    const std::size_t agreeingToo = agreeingEdges(a, b, other);
    const bool misled = agreeingToo > agreeing + all / kMisledShare;
    if (misled || (other.count > pairs.count && agreeingToo >= agreeing)) pairs = std::move(other);
  }
  addChanged(a, b, pairs, changed);
  return pairs;
}

}  // namespace

const Model& unquantizedModel(const Model& model) {
  return model.unquantized != nullptr ? *model.unquantized : model;
}

std::int64_t NetworkMatch::count(MatchedBy by) const {
  return std::ranges::count(how, by);
}

NetworkMatch matchNetworks(const Model& a, const Model& b) {
  NetworkMatch match;
  std::optional<NetworkMatch> files;
  const bool same = sameGraph(a, b);
  if (!same && (a.unquantized != nullptr || b.unquantized != nullptr))
    files = matchNetworks(unquantizedModel(a), unquantizedModel(b));
  MatchPairs pairs = same    ? identified(*a.graph, *b.graph)
                     : files ? pairCodes(*a.graph, *b.graph, *files, match.changed)
                             : pairNodes(*a.graph, *b.graph, match.changed);
  match.nodeOfB = std::move(pairs.ofA);
  match.nodeOfA = std::move(pairs.ofB);
  match.how = std::move(pairs.how);
  match.valueOfB.resize(a.graph->valueIdLimit());
  match.valueOfA.resize(b.graph->valueIdLimit());
  if (files) pairKept(*a.graph, *b.graph, *files, match);
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
