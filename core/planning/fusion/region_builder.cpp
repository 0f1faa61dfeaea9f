#include "planning/fusion/region_builder.h"

#include <algorithm>

#include "analysis/users.h"
#include "base/sort_distinct.h"
#include "planning/kinds.h"
#include "planning/structure.h"

namespace fusescope {

RegionBuilder::RegionBuilder(const Graph& graph, const Partitioning& partition, std::span<const NodeId> scope,
                             const FusionLimits& limits)
    : m_graph(graph),
      m_partition(partition),
      m_limits(limits),
      m_fusible(graph.nodeIdLimit(), 0),
      m_contraction(graph, scope),
      m_rank(graph.nodeIdLimit(), 0),
      m_info(graph.nodeIdLimit()),
      m_memberMark(graph.nodeIdLimit(), 0) {
  for (std::size_t i = 0; i < scope.size(); ++i) {
    const NodeId id = scope[i];
    m_rank[id.index] = i;
    m_info[id.index].root = id;
    const SegmentId segment = partition.segmentOf[id.index];
    if (partition.segments[segment.index].kind != SegmentKind::Accelerated) continue;
    m_fusible[id.index] = 1;
    m_scope.push_back(id);
    if (typeOf(id) != DataType::Undefined) m_info[id.index].typed = id;
    const DataType natural = limits.facts == nullptr ? DataType::Undefined : (*limits.facts)[id.index].natural;
    if (natural == DataType::F64) m_info[id.index].wide = id;
    if (isExchangeable(natural)) m_info[id.index].narrow = id;
    if (limits.directives == nullptr) continue;
    for (std::size_t index = 0; index < limits.directives->noFuse.size(); ++index)
      if (limits.directives->noFuse[index].nodes[id.index])
        m_info[id.index].switchedOff.push_back(static_cast<int>(index));
  }
}

std::string_view RegionBuilder::kindOf(NodeId node) const {
  const Info& info = m_info[m_contraction.groupOf(node)];
  if (!info.kind.empty()) return info.kind;
  return isView(m_graph, m_graph.node(node)) ? kinds::kView : kindOfSingle(m_graph.node(node));
}

NodeId RegionBuilder::rootOf(NodeId node) const {
  return m_info[m_contraction.groupOf(node)].root;
}

DataType RegionBuilder::typeOf(NodeId node) const {
  return m_limits.calculates == nullptr ? DataType::Undefined
                                        : typeToKernel(m_graph.node(node), (*m_limits.calculates)[node.index]);
}

bool RegionBuilder::refuse(std::string_view code, Cause by, std::string_view rule, NodeId producer, NodeId consumer,
                           DecisionArguments arguments) {
  const std::string key =
      std::string(code) + " " + std::to_string(producer.index) + " " + std::to_string(consumer.index);
  if (!m_recorded.insert(key).second) return false;
  std::vector<Subject> subjects{Subject::node(nameOf(producer))};
  if (consumer != producer) subjects.push_back(Subject::node(nameOf(consumer)));
  arguments["producer"] = nameOf(producer);
  arguments["consumer"] = nameOf(consumer);
  arguments["rule"] = rule;
  m_refusals.push_back(decide(code, std::move(subjects), std::move(by), std::move(arguments)));
  return true;
}

void RegionBuilder::refuseFor(int directive, std::string_view code, std::string_view rule, NodeId producer,
                              NodeId consumer) {
  Cause by = m_limits.causeOf(directive);
  DecisionArguments arguments{{"node", nameOf(producer)}, {"directive", by.text()}};
  refuse(code, std::move(by), rule, producer, consumer, std::move(arguments));
}

void RegionBuilder::refuseTypes(const Candidate& candidate, const TypeConflict& conflict) {
  const std::string_view rule = candidate.rules.front();
  const bool isNew = refuse("fuse.precision_differs", Cause::rule(rule), rule, conflict.producer, conflict.consumer,
                            {{"producer_type", std::string(name(conflict.producerType))},
                             {"consumer_type", std::string(name(conflict.consumerType))},
                             {"kind", std::string(candidate.kind)}});
  if (isNew) m_conflicts.push_back(conflict);
}

std::vector<std::size_t> RegionBuilder::groupsOf(const Candidate& candidate) const {
  std::vector<std::size_t> groups;
  for (const NodeId node : candidate.nodes) {
    if (!fusible(node)) return {};
    groups.push_back(m_contraction.groupOf(node));
  }
  sortDistinct(groups);
  return groups;
}

/// Returns the edges between different groups of the candidate. Edges of the largest group are found from the other
/// groups.
std::vector<RegionBuilder::Edge> RegionBuilder::newEdges(const std::vector<std::size_t>& groups) {
  ++m_mark;
  std::size_t largest = groups.front();
  for (const std::size_t group : groups) {
    m_memberMark[group] = m_mark;
    if (m_contraction.nodes(group).size() > m_contraction.nodes(largest).size()) largest = group;
  }
  std::vector<Edge> edges;
  const auto other = [&](NodeId node, std::size_t group) {
    return fusible(node) && member(node) && m_contraction.groupOf(node) != group;
  };
  for (const std::size_t group : groups) {
    if (group == largest) continue;
    for (const NodeId node : m_contraction.nodes(group)) {
      for (const ValueId value : valuesRead(m_graph.node(node))) {
        const NodeId producer = m_graph.value(value).producer;
        if (producer.valid() && other(producer, group)) edges.push_back({producer, node, value});
      }
      for (const ValueId value : m_graph.node(node).outputs) {
        if (!value.valid()) continue;
        for (const NodeId user : m_graph.value(value).consumers)
          if (fusible(user) && m_contraction.groupOf(user) == largest) edges.push_back({node, user, value});
      }
    }
  }
  return edges;
}

bool RegionBuilder::tryMerge(const Candidate& candidate) {
  const std::vector<std::size_t> groups = groupsOf(candidate);
  if (groups.empty() || !sameSegment(candidate, groups)) return false;
  const std::vector<Edge> edges = newEdges(groups);
  if (!rulesAllowed(candidate, groups) || !edgesAllowed(candidate, edges) || !typesAgree(candidate, groups)) {
    return false;
  }
  if (!innerValuesStayInside(candidate, edges) || !staysAcyclic(candidate, groups, edges)) return false;
  Info merged = m_info[m_contraction.groupOf(candidate.root)];
  // A kernel that grows keeps the name of the rule that made it.
  if (merged.kind != candidate.kind || merged.rule.empty()) merged.rule = candidate.rules.front();
  merged.root = candidate.root;
  merged.kind = candidate.kind;
  merged.oneType.insert(merged.oneType.end(), candidate.oneType.begin(), candidate.oneType.end());
  merged.bindings.insert(merged.bindings.end(), candidate.bindings.begin(), candidate.bindings.end());
  for (const std::size_t group : groups) {
    if (group == m_contraction.groupOf(candidate.root)) continue;
    const Info& guest = m_info[group];
    merged.switchedOff.insert(merged.switchedOff.end(), guest.switchedOff.begin(), guest.switchedOff.end());
    if (!merged.typed.valid()) merged.typed = guest.typed;
    if (!merged.wide.valid()) merged.wide = guest.wide;
    if (!merged.narrow.valid()) merged.narrow = guest.narrow;
  }
  m_info[m_contraction.merge(groups)] = std::move(merged);
  return true;
}

void RegionBuilder::bind(NodeId node, const Bindings& bindings) {
  Bindings& all = m_info[m_contraction.groupOf(node)].bindings;
  all.insert(all.end(), bindings.begin(), bindings.end());
}

bool RegionBuilder::sameSegment(const Candidate& candidate, const std::vector<std::size_t>& groups) {
  const SegmentId segment = m_partition.segmentOf[candidate.root.index];
  for (const std::size_t group : groups) {
    const NodeId node = m_contraction.nodes(group).front();
    if (m_partition.segmentOf[node.index] == segment) continue;
    refuse("fuse.other_segment", candidate.rules.front(), std::min(node, candidate.root),
           std::max(node, candidate.root));
    return false;
  }
  return true;
}

bool RegionBuilder::rulesAllowed(const Candidate& candidate, const std::vector<std::size_t>& groups) {
  if (m_limits.directives == nullptr) return true;
  for (const std::size_t group : groups) {
    for (const int index : m_info[group].switchedOff) {
      const DirectiveMap::NoFuse& entry = m_limits.directives->noFuse[static_cast<std::size_t>(index)];
      if (std::ranges::find(candidate.rules, entry.rule) == candidate.rules.end()) continue;
      const auto& nodes = m_contraction.nodes(group);
      const NodeId node = *std::ranges::find_if(nodes, [&](NodeId id) { return entry.nodes[id.index] != 0; });
      refuseFor(entry.directive, "fuse.no_fuse", entry.rule, node, node);
      return false;
    }
  }
  return true;
}

bool RegionBuilder::edgesAllowed(const Candidate& candidate, const std::vector<Edge>& edges) {
  if (m_limits.directives == nullptr) return true;
  for (const Edge& edge : edges) {
    const auto refused = [&](const char* code, int directive) {
      refuseFor(directive, code, candidate.rules.front(), edge.producer, edge.consumer);
      return false;
    };
    if (const int split = m_limits.directives->split[edge.producer.index]; split >= 0)
      return refused("fuse.split", split);
    if (const int directive = (*m_limits.requiredInMemory)[edge.value.index]; directive >= 0)
      return refused("fuse.output_type_pinned", directive);
  }
  return true;
}

bool RegionBuilder::agree(const Candidate& candidate, NodeId a, NodeId b) {
  if (typeOf(a) == DataType::Undefined || typeOf(b) == DataType::Undefined || typeOf(a) == typeOf(b)) return true;
  refuseTypes(candidate, {a, b, typeOf(a), typeOf(b)});
  return false;
}

bool RegionBuilder::typesAgree(const Candidate& candidate, const std::vector<std::size_t>& groups) {
  NodeId wide, narrow;
  for (const std::size_t group : groups) {
    if (m_info[group].wide.valid()) wide = m_info[group].wide;
    if (m_info[group].narrow.valid()) narrow = m_info[group].narrow;
  }
  if (wide.valid() && narrow.valid()) {
    const auto natural = [&](NodeId node) { return (*m_limits.facts)[node.index].natural; };
    const NodeId first = rank(wide) < rank(narrow) ? wide : narrow, second = first == wide ? narrow : wide;
    refuseTypes(candidate, {first, second, natural(first), natural(second)});
    return false;
  }
  if (m_limits.calculates == nullptr) return true;
  for (const NodeId node : candidate.oneType)
    if (!agree(candidate, candidate.oneType.front(), node)) return false;
  if (!m_limits.oneTypePerKernel) return true;
  NodeId first;
  for (const std::size_t group : groups) {
    const NodeId typed = m_info[group].typed;
    if (!typed.valid()) continue;
    if (first.valid() && !agree(candidate, first, typed)) return false;
    if (!first.valid()) first = typed;
  }
  return true;
}

bool RegionBuilder::innerValuesStayInside(const Candidate& candidate, const std::vector<Edge>& edges) {
  if (candidate.deliversInner) return true;
  for (const Edge& edge : edges) {
    const Value& value = m_graph.value(edge.value);
    DecisionArguments arguments{{"value", value.name}, {"kind", std::string(candidate.kind)}};
    if (m_graph.isOutput(edge.value)) {
      refuse("fuse.model_output_inside", candidate.rules.front(), edge.producer, edge.consumer, std::move(arguments));
      return false;
    }
    for (const NodeId user : value.consumers) {
      if (fusible(user) && member(user)) continue;
      arguments["user"] = nameOf(user);
      refuse("fuse.inner_value_used_outside", candidate.rules.front(), edge.producer, edge.consumer,
             std::move(arguments));
      return false;
    }
  }
  return true;
}

bool RegionBuilder::staysAcyclic(const Candidate& candidate, const std::vector<std::size_t>& groups,
                                 const std::vector<Edge>& edges) {
  const std::optional<NodeId> through = m_contraction.pathOutside(groups);
  if (!through) return true;
  const NodeId producer = edges.empty() ? candidate.nodes.front() : edges.back().producer;
  const NodeId consumer = edges.empty() ? candidate.nodes.back() : edges.back().consumer;
  refuse("fuse.would_cycle", candidate.rules.front(), producer, consumer, {{"through", nameOf(*through)}});
  return false;
}

Fusion RegionBuilder::finish() {
  Fusion fusion;
  for (std::vector<NodeId>& nodes : m_contraction.ordered()) {
    Info& info = m_info[m_contraction.groupOf(nodes.front())];
    Region region{.root = info.root, .kind = std::string(kindOf(info.root)), .rule = std::move(info.rule)};
    region.nodes = std::move(nodes);
    region.bindings = std::move(info.bindings);
    region.oneType = std::move(info.oneType);
    fusion.regions.push_back(std::move(region));
  }
  fusion.refusals = std::move(m_refusals);
  fusion.conflicts = std::move(m_conflicts);
  return fusion;
}

}  // namespace fusescope
