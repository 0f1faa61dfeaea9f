#include "compilers/tensorrt/between_layers.h"

#include <algorithm>
#include <iterator>

#include "analysis/users.h"
#include "ir/graph.h"

namespace fusescope {

namespace {
/// The most layers without nodes through which neighbours of a layer are searched.
constexpr std::size_t kFarthest = 128;
}  // namespace

BetweenLayers::BetweenLayers(const Graph& graph, LayerPlaces& made, const std::vector<bool>& moves,
                             const std::vector<ValueId>& same)
    : m_graph(graph), m_made(made), m_moves(moves), m_same(same), m_holders(graph.nodeIdLimit()) {
  for (std::size_t i = 0; i < made.places.size(); ++i)
    for (const auto& [node, certainty] : made.places[i].nodes) m_holders[node.index].push_back(i);
}

void BetweenLayers::hold(std::size_t layer, NodeId node, Certainty certainty) {
  if (m_made.places[layer].nodes.emplace(node, certainty).second) m_holders[node.index].push_back(layer);
}

/// Returns the layers that calculate inputs of `layer`, or read its outputs, through layers without nodes.
std::vector<std::size_t> BetweenLayers::around(std::size_t layer, bool behind) const {
  std::set<std::size_t> seen{layer};
  std::vector<std::size_t> open{layer}, found;
  const auto meet = [&](std::size_t next) {
    if (next == LayerEdges::kNone || !seen.insert(next).second) return;
    (m_made.places[next].nodes.empty() ? open : found).push_back(next);
  };
  while (!open.empty() && seen.size() < kFarthest) {
    const std::size_t current = open.back();
    open.pop_back();
    if (behind)
      for (const std::size_t user : m_made.edges.users[current]) meet(user);
    else
      for (const LayerEdges::Input& input : m_made.edges.inputs[current]) meet(input.layer);
  }
  return found;
}

/// Returns whether the nodes of a layer that calculates an input of `layer` limit the nodes that `layer` may contain.
bool BetweenLayers::isBorder(std::size_t layer, NodeId producer) const {
  const std::vector<std::size_t> before = around(layer, false);
  return std::ranges::any_of(m_holders[producer.index],
                             [&](std::size_t holder) { return std::ranges::count(before, holder) > 0; });
}

void BetweenLayers::takeInside(std::size_t layer) {
  std::set<ValueId> read;
  for (const LayerEdges::Input& input : m_made.edges.inputs[layer]) {
    // The output of a layer about which nothing is known may be the result of any node before this one.
    const bool isUnknown = !input.value.valid() && input.layer != LayerEdges::kNone;
    if (isUnknown && m_made.places[input.layer].nodes.empty() && !m_moves[input.layer]) return;
    if (input.value.valid()) read.insert(m_same[input.value.index]);
  }
  const auto& own = m_made.places[layer].nodes;
  std::vector<ValueId> open;
  for (const ValueId value : m_made.edges.outputs[layer])
    if (value.valid() && !read.contains(m_same[value.index])) open.push_back(value);
  std::set<ValueId> seen;
  std::vector<NodeId> inside;
  Certainty certainty = Certainty::Derived;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    if (read.contains(m_same[value.index]) || m_graph.isConstant(value) || !seen.insert(value).second) continue;
    const NodeId producer = m_graph.value(value).producer;
    if (!producer.valid()) return;  // an input of the network that the layer does not read
    if (!isFree(producer) && !own.contains(producer)) {
      if (!isBorder(layer, producer)) return;
      certainty = Certainty::Guessed;
      continue;
    }
    if (isFree(producer)) inside.push_back(producer);
    for (const ValueId input : valuesRead(m_graph.node(producer))) open.push_back(input);
  }
  for (const NodeId node : inside) hold(layer, node, certainty);
}

/// Returns the nodes without a layer that can be reached from `start`.
BetweenLayers::Nodes BetweenLayers::follow(const std::vector<ValueId>& start) const {
  Nodes reached;
  std::vector<ValueId> open = start;
  while (!open.empty()) {
    const ValueId value = open.back();
    open.pop_back();
    for (const NodeId user : m_graph.value(value).consumers) {
      if (!isFree(user) || !reached.insert(user).second) continue;
      std::ranges::copy_if(m_graph.node(user).outputs, std::back_inserter(open), &ValueId::valid);
    }
  }
  return reached;
}

/// Returns the nodes without a layer from which `start` can be reached.
BetweenLayers::Nodes BetweenLayers::trace(const std::vector<ValueId>& start) const {
  Nodes reached;
  std::vector<ValueId> open = start;
  while (!open.empty()) {
    const NodeId producer = m_graph.value(open.back()).producer;
    open.pop_back();
    if (!producer.valid() || !isFree(producer) || !reached.insert(producer).second) continue;
    std::ranges::copy(valuesRead(m_graph.node(producer)), std::back_inserter(open));
  }
  return reached;
}

void BetweenLayers::takeWays(std::size_t layer) {
  std::vector<ValueId> made, read;
  for (const auto& [node, certainty] : m_made.places[layer].nodes) {
    std::ranges::copy_if(m_graph.node(node).outputs, std::back_inserter(made), &ValueId::valid);
    std::ranges::copy(valuesRead(m_graph.node(node)), std::back_inserter(read));
  }
  const Nodes behind = follow(made), before = trace(read);
  std::vector<NodeId> between;
  std::ranges::set_intersection(behind, before, std::back_inserter(between));
  for (const NodeId node : between) hold(layer, node, Certainty::Guessed);
}

BetweenLayers::Nodes BetweenLayers::nodesAround(std::size_t layer) const {
  std::vector<ValueId> before, behind;
  for (const LayerEdges::Input& input : m_made.edges.inputs[layer])
    if (input.value.valid()) before.push_back(input.value);
  for (const std::size_t source : around(layer, false))
    for (const auto& [node, certainty] : m_made.places[source].nodes)
      std::ranges::copy_if(m_graph.node(node).outputs, std::back_inserter(before), &ValueId::valid);
  for (const ValueId value : m_made.edges.outputs[layer])
    if (value.valid()) behind.push_back(value);
  for (const std::size_t user : around(layer, true))
    for (const auto& [node, certainty] : m_made.places[user].nodes)
      std::ranges::copy(valuesRead(m_graph.node(node)), std::back_inserter(behind));
  const Nodes after = follow(before), until = trace(behind);
  Nodes between;
  std::ranges::set_intersection(after, until, std::inserter(between, between.end()));
  return between;
}

void BetweenLayers::takeAround(std::size_t layer) {
  const Nodes between = nodesAround(layer);
  if (between.empty()) return;
  // It is unknown to which layer they belong; they are listed as the nearest nodes of both.
  if (!isAlone(layer)) return;
  for (const NodeId node : between) hold(layer, node, Certainty::Guessed);
}

/// Returns whether no other unknown layer reads from the layers before this one or through it; such a layer could
/// contain some of its nodes as well.
bool BetweenLayers::isAlone(std::size_t layer) const {
  const auto isUnknown = [&](std::size_t other) {
    return other != layer && other != LayerEdges::kNone && m_made.places[other].nodes.empty() && !m_moves[other];
  };
  const auto& users = m_made.edges.users;
  for (const std::size_t source : around(layer, false))
    if (std::ranges::any_of(users[source], isUnknown)) return false;
  return std::ranges::none_of(users[layer], isUnknown) &&
         std::ranges::none_of(m_made.edges.inputs[layer], isUnknown, &LayerEdges::Input::layer);
}

void BetweenLayers::nameTensors() {
  for (std::size_t i = 0; i < m_made.places.size(); ++i)
    for (std::size_t output = 0; output < m_made.edges.outputs[i].size(); ++output)
      if (!m_made.edges.outputs[i][output].valid()) nameTensor(i, output);
}

void BetweenLayers::nameTensor(std::size_t layer, std::size_t output) {
  const auto& own = m_made.places[layer].nodes;
  if (own.empty() || m_made.edges.outputs[layer].size() != 1) return;
  std::set<ValueId> candidates;
  for (const std::size_t user : m_made.edges.users[layer]) {
    const auto& theirs = m_made.places[user].nodes;
    for (const auto& [node, certainty] : theirs) {
      // If one node is in both layers, the value between them is not a value of the network.
      if (own.contains(node)) return;
      for (const ValueId value : valuesRead(m_graph.node(node))) {
        const NodeId producer = m_graph.value(value).producer;
        if (producer.valid() && own.contains(producer)) candidates.insert(value);
      }
    }
  }
  if (candidates.size() == 1) m_made.edges.outputs[layer][output] = *candidates.begin();
}

std::vector<NodeId> BetweenLayers::nearest(std::size_t layer, std::size_t most) const {
  std::vector<NodeId> found;
  const auto add = [&](NodeId node) {
    if (found.size() < most && std::ranges::count(found, node) == 0) found.push_back(node);
  };
  for (const NodeId node : nodesAround(layer)) add(node);
  for (const bool behind : {false, true})
    for (const std::size_t other : around(layer, behind))
      for (const auto& [node, certainty] : m_made.places[other].nodes) add(node);
  return found;
}

}  // namespace fusescope
