#include "planning/fusion/fusion_state.h"

#include <algorithm>

#include "analysis/users.h"
#include "planning/kinds.h"

namespace fusescope {

FusionState::FusionState(const Graph& graph, const Partitioning& partition, const PrecisionMap& precision,
                         const DirectiveMap& directives, const PlanOptions& options)
    : m_graph(graph),
      m_partition(partition),
      m_precision(precision),
      m_directives(directives),
      m_options(options),
      m_contraction(graph),
      m_accelerated(graph.nodeIdLimit(), 0),
      m_rank(graph.nodeIdLimit(), 0) {
  for (std::size_t i = 0; i < graph.order().size(); ++i) m_rank[graph.order()[i].index] = i;
  for (const Segment& segment : partition.segments) {
    if (segment.kind != SegmentKind::Accelerated) continue;
    for (NodeId id : segment.nodes) m_accelerated[id.index] = 1;
  }
}

std::string FusionState::kindOf(NodeId node) const {
  const auto found = m_info.find(nodesWith(node).front());
  if (found != m_info.end()) return found->second.kind;
  return isView(m_graph, m_graph.node(node)) ? std::string(kinds::kView) : kindOfSingle(m_graph.node(node));
}

NodeId FusionState::rootOf(NodeId node) const {
  const auto found = m_info.find(nodesWith(node).front());
  return found == m_info.end() ? node : found->second.root;
}

std::string FusionState::byDirective(int index) const {
  return directiveName(m_options.directives[static_cast<std::size_t>(index)]);
}

void FusionState::refuse(std::string_view code, std::string_view rule, NodeId producer, NodeId consumer,
                         Json arguments) {
  const std::string key =
      std::string(code) + " " + std::to_string(producer.index) + " " + std::to_string(consumer.index);
  if (!m_recorded.insert(key).second) return;
  std::vector<Subject> subjects{Subject::node(nameOf(producer))};
  if (consumer != producer) subjects.push_back(Subject::node(nameOf(consumer)));
  arguments["producer"] = nameOf(producer);
  arguments["consumer"] = nameOf(consumer);
  arguments["rule"] = rule;
  std::string by = "fuse_" + std::string(rule);
  if (arguments.contains("directive")) by = arguments["directive"].get<std::string>();
  m_decisions.push_back(decide(code, std::move(subjects), std::move(by), std::move(arguments)));
}

std::vector<FusionState::Edge> FusionState::innerEdges(const Candidate& candidate) const {
  std::vector<Edge> edges;
  const std::set<NodeId> inside(candidate.nodes.begin(), candidate.nodes.end());
  for (NodeId consumer : candidate.nodes) {
    for (ValueId value : valuesRead(m_graph.node(consumer))) {
      const NodeId producer = m_graph.value(value).producer;
      if (producer.valid() && inside.contains(producer)) edges.push_back({producer, consumer, value});
    }
  }
  return edges;
}

bool FusionState::tryMerge(const Candidate& candidate) {
  const std::vector<Edge> edges = innerEdges(candidate);
  if (!sameSegment(candidate)) return false;
  if (!rulesAllowed(candidate)) return false;
  if (!edgesAllowed(candidate, edges)) return false;
  if (!precisionAgrees(candidate, edges)) return false;
  if (!innerValuesStayInside(candidate, edges)) return false;
  if (!staysAcyclic(candidate, edges)) return false;
  // A kernel that grows keeps the name of the rule that made it.
  std::string rule(candidate.rules.front());
  const auto existing = m_info.find(nodesWith(candidate.root).front());
  if (existing != m_info.end() && existing->second.kind == candidate.kind) rule = existing->second.rule;
  for (NodeId node : candidate.nodes) m_info.erase(nodesWith(node).front());
  m_contraction.merge(candidate.nodes);
  m_info[nodesWith(candidate.root).front()] = {candidate.root, std::string(candidate.kind), std::move(rule)};
  return true;
}

bool FusionState::sameSegment(const Candidate& candidate) {
  const SegmentId segment = m_partition.segmentOf[candidate.root.index];
  for (NodeId node : candidate.nodes) {
    if (!fusible(node)) return false;
    if (m_partition.segmentOf[node.index] == segment) continue;
    refuse("fuse.other_segment", candidate.rules.front(), std::min(node, candidate.root),
           std::max(node, candidate.root));
    return false;
  }
  return true;
}

bool FusionState::rulesAllowed(const Candidate& candidate) {
  for (const DirectiveMap::NoFuse& wish : m_directives.noFuse) {
    if (std::find(candidate.rules.begin(), candidate.rules.end(), wish.rule) == candidate.rules.end()) continue;
    for (NodeId node : candidate.nodes) {
      if (!wish.nodes[node.index]) continue;
      refuse("fuse.no_fuse", wish.rule, node, node,
             {{"node", nameOf(node)}, {"directive", byDirective(wish.directive)}});
      return false;
    }
  }
  return true;
}

bool FusionState::edgesAllowed(const Candidate& candidate, const std::vector<Edge>& edges) {
  for (const Edge& edge : edges) {
    if (const int split = m_directives.split[edge.producer.index]; split >= 0) {
      refuse("fuse.split", candidate.rules.front(), edge.producer, edge.consumer,
             {{"node", nameOf(edge.producer)}, {"directive", byDirective(split)}});
      return false;
    }
    if (m_precision.outputType[edge.value.index] != DataType::Undefined) {
      refuse("fuse.output_type_pinned", candidate.rules.front(), edge.producer, edge.consumer,
             {{"node", nameOf(edge.producer)}, {"directive", byDirective(m_directives.outputType[edge.value.index])}});
      return false;
    }
  }
  return true;
}

bool FusionState::precisionAgrees(const Candidate& candidate, const std::vector<Edge>& edges) {
  const auto typeOf = [&](NodeId node) {
    return m_precision.isFloat[node.index] ? m_precision.compute[node.index] : DataType::Undefined;
  };
  const auto refusePair = [&](NodeId producer, NodeId consumer) {
    refuse("fuse.precision_differs", candidate.rules.front(), producer, consumer,
           {{"producer_type", std::string(name(typeOf(producer)))},
            {"consumer_type", std::string(name(typeOf(consumer)))}});
    return false;
  };
  for (const Edge& edge : edges) {
    const DataType from = typeOf(edge.producer);
    const DataType to = typeOf(edge.consumer);
    if (from == DataType::Undefined || to == DataType::Undefined || from == to) continue;
    return refusePair(edge.producer, edge.consumer);
  }
  NodeId first;
  for (NodeId node : candidate.nodes) {
    if (typeOf(node) == DataType::Undefined) continue;
    if (first.valid() && typeOf(node) != typeOf(first)) return refusePair(first, node);
    if (!first.valid()) first = node;
  }
  return true;
}

bool FusionState::innerValuesStayInside(const Candidate& candidate, const std::vector<Edge>& edges) {
  if (candidate.deliversInner) return true;
  const std::set<NodeId> inside(candidate.nodes.begin(), candidate.nodes.end());
  for (const Edge& edge : edges) {
    const Value& value = m_graph.value(edge.value);
    Json arguments{{"value", value.name}, {"kind", std::string(candidate.kind)}};
    if (m_graph.isOutput(edge.value)) {
      refuse("fuse.model_output_inside", candidate.rules.front(), edge.producer, edge.consumer, std::move(arguments));
      return false;
    }
    for (NodeId user : value.consumers) {
      if (inside.contains(user)) continue;
      arguments["user"] = nameOf(user);
      refuse("fuse.inner_value_used_outside", candidate.rules.front(), edge.producer, edge.consumer,
             std::move(arguments));
      return false;
    }
  }
  return true;
}

bool FusionState::staysAcyclic(const Candidate& candidate, const std::vector<Edge>& edges) {
  const std::optional<NodeId> through = m_contraction.pathOutside(candidate.nodes);
  if (!through) return true;
  const NodeId producer = edges.empty() ? candidate.nodes.front() : edges.back().producer;
  const NodeId consumer = edges.empty() ? candidate.nodes.back() : edges.back().consumer;
  refuse("fuse.would_cycle", candidate.rules.front(), producer, consumer, {{"through", nameOf(*through)}});
  return false;
}

Fusion FusionState::finish() {
  Fusion fusion;
  for (const std::vector<NodeId>& nodes : m_contraction.ordered()) {
    const NodeId root = rootOf(nodes.front());
    FusionGroup group{.nodes = nodes, .root = root, .kind = kindOf(root)};
    std::vector<Subject> subjects;
    for (NodeId node : nodes) subjects.push_back(Subject::node(nameOf(node)));
    if (nodes.size() > 1) {
      group.rule = m_info.at(nodes.front()).rule;
      m_decisions.push_back(decide("fuse.merged", std::move(subjects), "fuse_" + group.rule,
                                   {{"kind", group.kind}, {"rule", group.rule}}));
    } else {
      m_decisions.push_back(decide("fuse.single", std::move(subjects), "fusion", {{"kind", group.kind}}));
    }
    fusion.groups.push_back(std::move(group));
  }
  for (const Segment& segment : m_partition.segments) {
    if (segment.kind != SegmentKind::Fallback) continue;
    m_decisions.push_back(
        decide("fuse.fallback_segment", {Subject::segment(segment.name)}, "fusion", {{"segment", segment.name}}));
  }
  fusion.decisions = std::move(m_decisions);
  return fusion;
}

}  // namespace fusescope
