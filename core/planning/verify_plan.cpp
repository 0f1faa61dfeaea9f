#include <algorithm>
#include <set>

#include "analysis/users.h"
#include "planning/steps.h"
#include "planning/types/verify_types.h"

namespace fusescope {

namespace {

class PlanVerifier {
 public:
  explicit PlanVerifier(const Plan& plan) : m_plan(plan), m_graph(plan.graph()) {}

  Status run() {
    TRY(checkMembership());
    TRY(checkSegments());
    TRY(checkFusedOrder());
    TRY(checkEdges());
    TRY(checkCasts());
    TRY(checkOrigins());
    TRY(checkDirectives());
    TRY(checkEvidence());
    TRY(checkBodies());
    return verifyTypes(m_plan);
  }

 private:
  Diagnostic broken(std::string message, std::string node = {}, std::string value = {}) const {
    return {.message = "plan: " + std::move(message),
            .where = {.file = m_plan.model->path, .node = std::move(node), .value = std::move(value)}};
  }

  Status checkMembership() {
    m_fusedOf.assign(m_graph.nodeIdLimit(), FusedNodeId());
    m_segmentOf.assign(m_graph.nodeIdLimit(), SegmentId());
    for (const Segment& segment : m_plan.segments) {
      for (NodeId node : segment.nodes) {
        if (m_segmentOf[node.index].valid()) return broken("a node is in two segments", m_graph.node(node).name);
        m_segmentOf[node.index] = segment.id;
      }
    }
    for (std::size_t i = 0; i < m_plan.fusedNodes.size(); ++i) {
      const FusedNode& fused = m_plan.fusedNodes[i];
      if (fused.id != FusedNodeId(i)) return broken("ids of fused nodes are not their positions");
      if (std::find(fused.nodes.begin(), fused.nodes.end(), fused.root) == fused.nodes.end()) {
        return broken("the root of '" + fused.name + "' is not one of its nodes");
      }
      for (NodeId node : fused.nodes) {
        const std::string& name = m_graph.node(node).name;
        if (m_fusedOf[node.index].valid()) return broken("a node is in two fused nodes", name);
        if (m_segmentOf[node.index] != fused.segment) return broken("a fused node crosses segments", name);
        m_fusedOf[node.index] = fused.id;
      }
    }
    for (NodeId node : m_graph.order()) {
      if (!m_fusedOf[node.index].valid()) return broken("a node is in no fused node", m_graph.node(node).name);
    }
    return Done{};
  }

  /// Segments must be convex and in order: the graph of segments has no cycle.
  Status checkSegments() const {
    const std::size_t count = m_plan.segments.size();
    std::vector<std::set<std::size_t>> before(count);
    for (NodeId node : m_graph.order()) {
      for (ValueId value : valuesRead(m_graph.node(node))) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid() || m_segmentOf[producer.index] == m_segmentOf[node.index]) continue;
        before[m_segmentOf[node.index].index].insert(m_segmentOf[producer.index].index);
      }
    }
    std::vector<char> done(count, 0);
    for (std::size_t round = 0; round < count; ++round) {
      for (std::size_t i = 0; i < count; ++i) {
        done[i] = done[i] || std::all_of(before[i].begin(), before[i].end(), [&](std::size_t b) { return done[b]; });
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!done[i]) return broken("segment '" + m_plan.segments[i].name + "' is not convex");
    }
    return Done{};
  }

  /// Producers must come before consumers, which also makes every fused node convex. Values that are used outside must
  /// be outputs.
  Status checkFusedOrder() const {
    for (const FusedNode& fused : m_plan.fusedNodes) {
      for (ValueId value : fused.inputs) {
        const NodeId producer = m_graph.value(value).producer;
        if (!producer.valid()) continue;
        const FusedNode& from = m_plan.fusedNodes[m_fusedOf[producer.index].index];
        if (from.id >= fused.id) return broken("'" + fused.name + "' comes before its producer '" + from.name + "'");
        const bool delivered = std::any_of(from.outputs.begin(), from.outputs.end(),
                                           [&](const FusedOutput& output) { return output.value == value; });
        if (!delivered) return broken("'" + from.name + "' does not deliver a value", {}, m_graph.value(value).name);
      }
    }
    return Done{};
  }

  bool isCastPlanned(ValueId value, DataType from, DataType to, FusedNodeId consumer) const {
    return std::any_of(m_plan.casts.begin(), m_plan.casts.end(), [&](const PlannedCast& cast) {
      if (cast.value != value || cast.from != from || cast.to != to) return false;
      if (!consumer.valid()) return cast.consumers.empty();
      return std::find(cast.consumers.begin(), cast.consumers.end(), consumer) != cast.consumers.end();
    });
  }

  Status checkEdges() const {
    for (const FusedNode& fused : m_plan.fusedNodes) {
      if (fused.reads.size() != fused.inputs.size()) return broken("'" + fused.name + "' does not say what it reads");
      for (std::size_t i = 0; i < fused.inputs.size(); ++i) {
        const ValueId value = fused.inputs[i];
        const DataType from = m_plan.storedType(value), to = fused.reads[i];
        if (from != to && !isCastPlanned(value, from, to, fused.id)) {
          return broken("'" + fused.name + "' reads " + std::string(name(to)) + ", but the stored type is " +
                            std::string(name(from)) + " and no cast is planned",
                        {}, m_graph.value(value).name);
        }
      }
    }
    for (ValueId value : m_graph.outputs()) {
      const DataType from = m_plan.storedType(value);
      const DataType to = m_graph.value(value).type.dtype;
      if (from != to && !m_graph.isConstant(value) && !isCastPlanned(value, from, to, FusedNodeId())) {
        return broken("an output of the network has not its declared type", {}, m_graph.value(value).name);
      }
    }
    return Done{};
  }

  Status checkCasts() const {
    for (const PlannedCast& cast : m_plan.casts) {
      if (cast.from == cast.to || cast.from != m_plan.storedType(cast.value)) {
        return broken("a cast does not start from the stored type", {}, m_graph.value(cast.value).name);
      }
    }
    return Done{};
  }

  Status checkOrigins() const {
    std::set<std::string> answered;
    for (const Decision& decision : m_plan.decisions) {
      if (decision.kind != DecisionKind::Normalise) continue;
      for (const Subject& subject : decision.subjects) answered.insert(subject.text());
    }
    std::vector<int> uses(m_plan.model->origins.size(), 0);
    for (const FusedNode& fused : m_plan.fusedNodes) {
      for (OriginId origin : fused.origins) ++uses[origin.index];
    }
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const std::string& name = m_plan.model->origins[i].name;
      if (uses[i] == 0 && !answered.contains(name)) {
        return broken("a node of the file is in no fused node, and no decision says that it was removed", name);
      }
    }
    return Done{};
  }

  Status checkDirectives() const {
    std::set<Cause> answered;
    for (const Decision& decision : m_plan.decisions) answered.insert(decision.by);
    for (const Directive& directive : m_plan.options.directives) {
      if (!answered.contains(causeOf(directive))) {
        return broken("no decision answers the directive '" + causeOf(directive).text() + "'");
      }
    }
    return Done{};
  }

  Status checkEvidence() const {
    for (const Decision& decision : m_plan.decisions) {
      for (std::uint32_t index : decision.evidence) {
        if (index >= m_plan.decisions.size())
          return broken("decision " + decision.code + " cites one that is not there");
      }
    }
    return Done{};
  }

  /// Each body must have a valid plan, belong to an accelerated node that is alone in its kernel, and have the inputs
  /// that its holder captures for it.
  Status checkBodies() const {
    for (const CoverBody& body : m_plan.bodies) {
      const Node& holder = m_graph.node(body.holder);
      const FusedNode& fused = m_plan.fusedNodes[m_fusedOf[body.holder.index].index];
      if (m_plan.inFallback(fused)) return broken("a body of a node in fallback has a plan", holder.name);
      if (fused.nodes.size() != 1) return broken("a node with bodies shares a kernel", holder.name);
      const auto& subgraph = std::get<Subgraph>(holder.attributes.at(body.attribute));
      const Graph& inside = plannedBody(body).graph();
      if (inside.inputs() != subgraph.graph->inputs() || inside.outputs() != subgraph.graph->outputs())
        return broken("the plan of a body is of another graph", holder.name);
      const std::size_t own = inside.inputs().size() - subgraph.captures.size();
      for (std::size_t i = 0; i < subgraph.captures.size(); ++i) {
        const auto at = std::ranges::find(fused.inputs, subgraph.captures[i]);
        const Value& taken = inside.value(inside.inputs()[own + i]);
        if (at != fused.inputs.end() &&
            fused.reads[static_cast<std::size_t>(at - fused.inputs.begin())] != taken.type.dtype)
          return broken("a body does not take what its holder reads", holder.name, taken.name);
      }
      Status status = verifyPlan(plannedBody(body));
      if (status.ok()) continue;
      Diagnostic error = std::move(status).error();
      error.where.node = BodyPath().into(holder, body.attribute).of(error.where.node);
      return error;
    }
    return Done{};
  }

  const Plan& m_plan;
  const Graph& m_graph;
  std::vector<FusedNodeId> m_fusedOf;
  std::vector<SegmentId> m_segmentOf;
};

}  // namespace

Status verifyPlan(const Plan& plan) {
  return PlanVerifier(plan).run();
}

}  // namespace fusescope
