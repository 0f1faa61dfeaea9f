#include "engine/read_back.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"

namespace fusescope {
namespace {

class ReadBack {
 public:
  ReadBack(const Plan& planned, const std::vector<ReadBackNode>& made)
      : m_planned(planned),
        m_graph(planned.graph()),
        m_made(made),
        m_fusedOf(m_graph.nodeIdLimit(), kNone),
        m_position(m_graph.nodeIdLimit(), kNone) {
    for (std::size_t i = 0; i < m_graph.order().size(); ++i) m_position[m_graph.order()[i].index] = i;
  }

  Result<std::shared_ptr<const Plan>> run() {
    TRY(claimNodes());
    for (const FusedNode& fused : m_planned.fusedNodes)
      if (!isRead(fused.segment)) m_all.push_back(fused);
    for (std::size_t i = m_made.size(); i < m_all.size(); ++i)
      for (const NodeId node : m_all[i].nodes) m_fusedOf[node.index] = i;
    for (std::size_t i = 0; i < m_made.size(); ++i) describe(m_all[i], m_made[i]);
    Plan plan = m_planned;
    plan.source = "read_back";
    plan.predictedMs.reset();
    for (std::size_t i = 0; i < m_made.size(); ++i) takeTypes(plan, m_made[i]);
    order(plan);
    moveCasts(plan);
    plan.index();
    return std::make_shared<const Plan>(std::move(plan));
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  bool isRead(SegmentId segment) const { return m_segments.contains(segment); }
  Diagnostic wrong(std::string what, NodeId node) const {
    return {.message = "what the compiler says that it made of the segment " + std::move(what),
            .where = {.node = m_graph.node(node).name}};
  }

  Status claimNodes() {
    for (std::size_t i = 0; i < m_made.size(); ++i) {
      m_all.emplace_back();
      for (const NodeId node : m_made[i].nodes) {
        if (m_fusedOf[node.index] != kNone) return wrong("has a node twice", node);
        m_fusedOf[node.index] = i;
        m_segments.insert(m_planned.fusedNodeOf(node)->segment);
        if (m_planned.fusedNodeOf(node)->segment != m_planned.fusedNodeOf(m_made[i].nodes.front())->segment)
          return wrong("has a fused node that crosses segments", node);
      }
    }
    for (const SegmentId segment : m_segments)
      for (const NodeId node : m_planned.segments[segment.index].nodes)
        if (m_fusedOf[node.index] == kNone) return wrong("leaves out a node", node);
    return Done{};
  }

  /// As our own, if it is one of ours: what is known of a fused node is kept by this.
  Hash128 identityOf(const FusedNode& fused) const {
    const FusedNode* own = m_planned.fusedNodeOf(fused.nodes.front());
    if (std::ranges::is_permutation(own->nodes, fused.nodes)) return own->identity;
    KeyBuilder key;
    key.text("read_back");
    for (const NodeId node : fused.nodes) key.text(m_graph.node(node).name);
    return key.hash();
  }

  bool isUsedOutside(ValueId value, std::size_t fused) const {
    const auto isOutside = [&](NodeId user) { return m_fusedOf[user.index] != fused; };
    return m_graph.isOutput(value) || std::ranges::any_of(m_graph.value(value).consumers, isOutside);
  }

  void describe(FusedNode& fused, const ReadBackNode& made) const {
    fused.name = made.name;
    fused.kind = made.kind;
    fused.nodes = made.nodes;
    std::ranges::sort(fused.nodes, {}, [&](NodeId node) { return m_position[node.index]; });
    fused.root = fused.nodes.back();
    fused.segment = m_planned.fusedNodeOf(fused.root)->segment;
    fused.compute = fused.accumulate = made.compute;
    fused.identity = identityOf(fused);
    const std::size_t own = m_fusedOf[fused.root.index];
    std::set<OriginId> origins;
    for (const NodeId id : fused.nodes) {
      const Node& node = m_graph.node(id);
      origins.insert(node.origins.begin(), node.origins.end());
      for (const ValueId input : operands(node)) addInput(fused, input, own);
      for (const ValueId output : node.outputs)
        if (output.valid()) addOutput(fused, output, made, own);
    }
    fused.origins.assign(origins.begin(), origins.end());
  }

  /// The type at which a value stands in memory, as whoever made it says.
  DataType storedType(ValueId value) const {
    const NodeId producer = m_graph.value(value).producer;
    const std::size_t by = producer.valid() ? m_fusedOf[producer.index] : kNone;
    if (by < m_made.size())
      for (const auto& [output, type] : m_made[by].outputs)
        if (output == value) return type;
    return m_planned.storedType(value);
  }

  void addInput(FusedNode& fused, ValueId input, std::size_t own) const {
    if (!input.valid() || m_graph.isConstant(input)) return;
    const NodeId producer = m_graph.value(input).producer;
    if (producer.valid() && m_fusedOf[producer.index] == own) return;
    if (std::ranges::find(fused.inputs, input) != fused.inputs.end()) return;
    fused.inputs.push_back(input);
    fused.reads.push_back(storedType(input));
  }

  void addOutput(FusedNode& fused, ValueId output, const ReadBackNode& made, std::size_t own) const {
    const bool isSaid = std::ranges::any_of(made.outputs, [&](const auto& said) { return said.first == output; });
    if (isSaid || isUsedOutside(output, own)) {
      fused.outputs.push_back({output, storedType(output)});
    } else {
      const bool isOfFloats = isFloat(m_graph.value(output).type.dtype);
      fused.innerEdges.push_back({output, false, isOfFloats ? made.compute : m_planned.storedType(output)});
    }
  }

  void takeTypes(Plan& plan, const ReadBackNode& made) const {
    for (const NodeId node : made.nodes)
      if (plan.calculates[node.index] != DataType::Undefined) plan.calculates[node.index] = made.compute;
    for (PrecisionGrant& grant : plan.precisionMap)
      if (std::ranges::find(made.nodes, grant.node) != made.nodes.end() && isFloat(grant.granted))
        grant.granted = made.compute;
  }

  /// Producers first; among independent ones in the order of their first nodes.
  void order(Plan& plan) {
    plan.fusedNodes.clear();
    m_place.assign(m_all.size(), kNone);
    for (const NodeId node : m_graph.order()) place(m_fusedOf[node.index], plan);
  }

  void place(std::size_t i, Plan& plan) {
    if (m_place[i] != kNone) return;
    m_place[i] = kPlacing;
    for (const ValueId input : m_all[i].inputs)
      if (const NodeId producer = m_graph.value(input).producer; producer.valid())
        place(m_fusedOf[producer.index], plan);
    m_place[i] = plan.fusedNodes.size();
    plan.fusedNodes.push_back(m_all[i]);
    plan.fusedNodes.back().id = FusedNodeId(m_place[i]);
  }

  /// Those that a compiler need not make: from what it leaves in memory, or for others.
  void moveCasts(Plan& plan) const {
    const auto now = [&](FusedNodeId planned) {
      return FusedNodeId(m_place[m_fusedOf[m_planned.fusedNodes[planned.index].nodes.front().index]]);
    };
    plan.casts.clear();
    for (PlannedCast cast : m_planned.casts) {
      const bool hadConsumers = !cast.consumers.empty();
      std::erase_if(cast.consumers, [&](FusedNodeId id) { return isRead(m_planned.fusedNodes[id.index].segment); });
      if (storedType(cast.value) != cast.from || (hadConsumers && cast.consumers.empty())) continue;
      for (FusedNodeId& consumer : cast.consumers) consumer = now(consumer);
      const NodeId producer = m_graph.value(cast.value).producer;
      if (producer.valid()) cast.producer = FusedNodeId(m_place[m_fusedOf[producer.index]]);
      plan.casts.push_back(std::move(cast));
    }
  }

  static constexpr std::size_t kPlacing = kNone - 1;

  const Plan& m_planned;
  const Graph& m_graph;
  const std::vector<ReadBackNode>& m_made;
  std::set<SegmentId> m_segments;       ///< that were read back
  std::vector<FusedNode> m_all;         ///< those that were made, then our own
  std::vector<std::size_t> m_fusedOf;   ///< by NodeId: in m_all
  std::vector<std::size_t> m_position;  ///< by NodeId: in the order of the graph
  std::vector<std::size_t> m_place;     ///< of m_all in the plan
};

}  // namespace

Result<std::shared_ptr<const Plan>> readBackPlan(const Plan& planned, const std::vector<ReadBackNode>& made) {
  return ReadBack(planned, made).run();
}

Json toJson(const std::vector<ReadBackNode>& made, const Graph& graph) {
  Json json = Json::array();
  for (const ReadBackNode& fused : made) {
    Json entry = {{"name", fused.name},
                  {"kind", fused.kind},
                  {"nodes", Json::array()},
                  {"compute", name(fused.compute)},
                  {"outputs", Json::array()}};
    for (const NodeId node : fused.nodes) entry["nodes"].push_back(graph.node(node).name);
    for (const auto& [value, type] : fused.outputs)
      entry["outputs"].push_back({{"value", graph.value(value).name}, {"type", name(type)}});
    json.push_back(std::move(entry));
  }
  return json;
}

Result<std::vector<ReadBackNode>> readBackFromJson(const Json& json, const Graph& graph) {
  std::vector<ReadBackNode> made;
  const auto typeOf = [](const Json& text) {
    return dataTypeFromName(text.get<std::string>()).value_or(DataType::Undefined);
  };
  for (const Json& entry : json) {
    ReadBackNode& fused = made.emplace_back(ReadBackNode{.name = entry.at("name").get<std::string>(),
                                                         .kind = entry.at("kind").get<std::string>(),
                                                         .compute = typeOf(entry.at("compute"))});
    for (const Json& node : entry.at("nodes")) {
      const auto id = graph.findNode(node.get<std::string>());
      if (!id) return Diagnostic{.message = "is read back, but not in the network", .where = {.node = node.dump()}};
      fused.nodes.push_back(*id);
    }
    for (const Json& output : entry.at("outputs")) {
      const auto id = graph.findValue(output.at("value").get<std::string>());
      if (!id) return Diagnostic{.message = "is read back, but not in the network", .where = {.value = output.dump()}};
      fused.outputs.emplace_back(*id, typeOf(output.at("type")));
    }
    if (fused.nodes.empty()) return Diagnostic{.message = "a fused node that is read back has no nodes"};
  }
  return made;
}

}  // namespace fusescope
