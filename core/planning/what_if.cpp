#include <algorithm>
#include <set>

#include "base/text.h"
#include "planning/directives/directive_form.h"
#include "planning/patterns/match_pattern.h"
#include "planning/plan.h"
#include "planning/types/type_answers.h"

namespace fusescope {

namespace {

Directive pinOf(const std::string& node, DataType type) {
  return {.kind = DirectiveKind::Pin, .pattern = node, .type = type};
}

/// Makes a plan without decisions for each change that could affect the node: directives about its surroundings, and
/// remedies for what prevents acceptance. The structure of the plan is reused where it is unchanged.
class WhatIfSearch {
 public:
  WhatIfSearch(const Plan& plan, NodeId node) : m_plan(plan), m_graph(plan.graph()), m_node(node) {}

  std::vector<WhatIf> run() {
    findSurroundings();
    tryWithoutDirectives();
    tryRemedies();
    tryTypesOfNeighbours();
    tryWithoutCast();
    return std::move(m_found);
  }

 private:
  const std::string& nodeName() const { return m_graph.node(m_node).name; }
  const Segment& segmentIn(const Plan& plan) const { return plan.segments[plan.fusedNodeOf(m_node)->segment.index]; }
  bool inFallback() const { return segmentIn(m_plan).kind == SegmentKind::Fallback; }

  /// Finds the regions in which the node could run, and the neighbouring ones; directives for other nodes do not affect
  /// it.
  void findSurroundings() {
    const Structure& structure = *m_plan.structure;
    const auto add = [&](NodeId id) { m_near.insert(structure.regionOf[id.index]); };
    for (const NodeId id : structure.fusion.regions[structure.regionOf[m_node.index]].nodes) {
      add(id);
      for (const ValueId value : m_graph.node(id).inputs)
        if (value.valid() && m_graph.value(value).producer.valid()) add(m_graph.value(value).producer);
      for (const ValueId value : m_graph.node(id).outputs)
        if (value.valid()) std::ranges::for_each(m_graph.value(value).consumers, add);
    }
  }

  bool reaches(const Directive& directive, const std::vector<NodeId>& nodes) const {
    const DirectiveForm& form = formOf(directive);
    if (form.reach == DirectiveReach::Tactics) return false;
    if (form.reach == DirectiveReach::Segments && form.pattern == PatternUse::None) return inFallback();
    if (form.reach == DirectiveReach::Segments)
      return std::ranges::find(nodes, m_node) != nodes.end() || keepsApart(nodes);
    if (directive.pattern.empty()) return true;
    return std::ranges::any_of(nodes, [&](NodeId id) { return m_near.contains(m_plan.structure->regionOf[id.index]); });
  }

  /// Returns whether one of the nodes is the reason why the node's segment could not be merged with another.
  bool keepsApart(const std::vector<NodeId>& nodes) const {
    return std::ranges::any_of(m_plan.structure->partition.separatedEdges, [&](const SeparatedEdge& edge) {
      const bool isOfNode = edge.producer == m_node || edge.consumer == m_node;
      return isOfNode && std::ranges::find(nodes, edge.through) != nodes.end();
    });
  }

  void tryWithoutDirectives() {
    const auto resolved = resolveDirectives(*m_plan.model, m_plan.target, m_plan.options.directives);
    if (!resolved.ok()) return;
    for (std::size_t i = 0; i < m_plan.options.directives.size(); ++i) {
      const Directive& directive = m_plan.options.directives[i];
      if (!reaches(directive, resolved.value().nodesOf[i])) continue;
      PlanOptions options = m_plan.options;
      std::erase_if(options.directives, [&](const Directive& other) { return other.id == directive.id; });
      consider(options, directive, "without " + optionText(directive));
    }
  }

  /// A directive about a node that the plan's options added to the network (a quantiser) matches nothing in the network
  /// of the file.
  bool matchesSomething(const Directive& directive) const {
    if (directive.pattern.empty() || m_plan.model->unquantized == nullptr) return true;
    return PatternMatcher(*m_plan.model->unquantized).match(directive.pattern).ok();
  }

  void tryWith(const Directive& directive) {
    if (!matchesSomething(directive)) return;
    PlanOptions options = m_plan.options;
    if (formOf(directive).pattern == PatternUse::None)  // a directive of this kind applies to the whole plan
      std::erase_if(options.directives, [&](const Directive& other) { return takesPlaceOf(directive, other); });
    options.directives.push_back(directive);
    consider(options, directive, optionText(directive));
  }

  static bool takesPlaceOf(const Directive& directive, const Directive& other) {
    const bool isPart = other.kind == DirectiveKind::TruncateInputs || other.kind == DirectiveKind::TruncateConstants;
    return other.kind == directive.kind || (directive.kind == DirectiveKind::Truncate && isPart);
  }

  /// Tries what could remove the reason why the node is refused.
  void tryRemedies() {
    const auto remedy = m_plan.structure->remedies.find(m_node);
    const bool isRefused = remedy != m_plan.structure->remedies.end();
    if (isRefused && remedy->second.truncation) {
      tryWith({.kind = DirectiveKind::Truncate, .truncate = *remedy->second.truncation});
    } else if (isRefused) {
      suggestEquivalent(remedy->second.equivalent);
    }
    const auto& tooSmall = m_plan.structure->partition.tooSmall;
    if (const auto small = tooSmall.find(m_node); small != tooSmall.end()) tryWith(minSegmentDirective(small->second));
    for (const TypeConflict& conflict : m_plan.typeConflicts) {
      if (conflict.producer != m_node && conflict.consumer != m_node) continue;
      tryWith(pinOf(m_graph.node(conflict.producer).name, conflict.consumerType));
      tryWith(pinOf(m_graph.node(conflict.consumer).name, conflict.producerType));
    }
  }

  /// Suggests an edit of the network, which is not planned here; it is what the target's table names.
  void suggestEquivalent(const std::string& equivalent) {
    const std::string change = "in the network, " + equivalent + " in place of " + m_graph.node(m_node).op;
    if (m_tried.insert(change).second) m_found.push_back({{}, change, m_plan.target.name + " supports that"});
  }

  /// If its kernel reads or writes through a conversion, tries the type of the other side.
  void tryTypesOfNeighbours() {
    const DataType own = m_plan.calculates[m_node.index];
    if (own == DataType::Undefined || inFallback()) return;
    const FusedNodeId fused = m_plan.fusedNodeOf(m_node)->id;
    for (const PlannedCast& cast : m_plan.casts) {
      const bool reads = std::ranges::find(cast.consumers, fused) != cast.consumers.end();
      if (!reads && cast.producer != fused) continue;
      for (const DataType type : {cast.from, cast.to})
        if (type != own && m_plan.target.computeTypes.contains(type)) tryWith(pinOf(nodeName(), type));
    }
  }

  /// If the author's Cast keeps the node in f32, tries the type that was asked for.
  void tryWithoutCast() {
    const NodeFacts& facts = m_plan.structure->facts[m_node.index];
    if (facts.author != NodeFacts::Author::CastUp || floatPrecisions(m_plan.options).size() != 1) return;
    const DataType type = floatPrecisions(m_plan.options).front();
    if (type == DataType::F32 || !m_plan.target.computeTypes.contains(type)) return;
    PlanOptions options = m_plan.options;
    for (const NodeId id : m_graph.order()) {
      const NodeFacts& other = m_plan.structure->facts[id.index];
      if (other.floats && other.author == NodeFacts::Author::CastUp && other.cast == facts.cast)
        options.directives.push_back(pinOf(m_graph.node(id).name, type));
    }
    consider(options, {}, "in the network, without the Cast " + m_graph.node(facts.cast).name);
  }

  /// Makes a plan with `options`, and keeps the change if it has an effect on the node.
  void consider(const PlanOptions& options, const Directive& directive, const std::string& change) {
    if (!m_tried.insert(change).second) return;
    const auto other = layOut(m_plan.model, options, {}, m_plan.structure);
    if (!other.ok()) return;
    const std::string effect = effectOf(other.value().plan);
    if (!effect.empty()) m_found.push_back({directive, change, effect});
  }

  const PrecisionGrant* grantIn(const Plan& plan) const {
    const auto found = std::ranges::find(plan.precisionMap, m_node, &PrecisionGrant::node);
    return found == plan.precisionMap.end() ? nullptr : &*found;
  }

  std::string joinsIn(const Plan& other) const {
    const FusedNode& before = *m_plan.fusedNodeOf(m_node);
    const FusedNode& after = *other.fusedNodeOf(m_node);
    const std::set<NodeId> known(before.nodes.begin(), before.nodes.end());
    const std::set<NodeId> now(after.nodes.begin(), after.nodes.end());
    std::vector<std::string> joins;
    for (const NodeId id : after.nodes)
      if (!known.contains(id)) joins.push_back(m_graph.node(id).name);
    const bool keepsAll = std::ranges::all_of(before.nodes, [&](NodeId id) { return now.contains(id); });
    return keepsAll ? joined(joins) : std::string();
  }

  std::string effectOf(const Plan& other) const {
    std::vector<std::string> effects;
    const Segment& after = segmentIn(other);
    if (inFallback() && after.kind == SegmentKind::Accelerated)
      effects.push_back(nodeName() + " would run in " + after.name);
    if (const std::string joins = joinsIn(other); !joins.empty())
      effects.push_back(nodeName() + " would run as one kernel with " + joins);
    const PrecisionGrant* grant = grantIn(m_plan);
    const PrecisionGrant* granted = grantIn(other);
    const bool refused = grant != nullptr && grant->asked != DataType::Undefined && grant->asked != grant->granted;
    if (refused && granted != nullptr && granted->granted == grant->asked)
      effects.push_back(nodeName() + " would compute in " + std::string(name(grant->asked)) + " as asked");
    const bool fewer = other.casts.size() < m_plan.casts.size() && castsAround(other) < castsAround(m_plan);
    if (fewer && other.fusedNodes.size() <= m_plan.fusedNodes.size())
      effects.push_back(counted(static_cast<std::int64_t>(m_plan.casts.size() - other.casts.size()), "cast") +
                        " fewer");
    return joined(effects, "; ");
  }

  /// Counts the conversions of values that its kernel reads or writes.
  std::size_t castsAround(const Plan& plan) const {
    const FusedNodeId fused = plan.fusedNodeOf(m_node)->id;
    return static_cast<std::size_t>(std::ranges::count_if(plan.casts, [&](const PlannedCast& cast) {
      return cast.producer == fused || std::ranges::find(cast.consumers, fused) != cast.consumers.end();
    }));
  }

  const Plan& m_plan;
  const Graph& m_graph;
  NodeId m_node;
  std::set<std::uint32_t> m_near;  ///< regions of the structure
  std::set<std::string> m_tried;
  std::vector<WhatIf> m_found;
};

}  // namespace

std::vector<WhatIf> wouldHelp(const Plan& plan, NodeId node) {
  return WhatIfSearch(plan, node).run();
}

}  // namespace fusescope
