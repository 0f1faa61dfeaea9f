#include <algorithm>
#include <map>

#include "analysis/cost.h"
#include "ops/exact_types.h"
#include "planning/steps.h"

namespace fusescope {

namespace {

bool exchangeable(DataType type) {
  return type == DataType::F32 || type == DataType::F16 || type == DataType::BF16;
}

bool isTruncation(DataType from, DataType to) {
  const auto pair = [&](DataType wide, DataType narrow) {
    return (from == wide && to == narrow) || (from == narrow && to == wide);
  };
  return pair(DataType::I64, DataType::I32) || pair(DataType::F64, DataType::F32);
}

class CastPlanner {
 public:
  explicit CastPlanner(const Plan& plan) : m_plan(plan), m_pinned(plan.graph().nodeIdLimit(), 0) {
    for (const PrecisionGrant& grant : plan.precisionMap) {
      m_pinned[grant.node.index] = grant.asked != DataType::Undefined && grant.asked == grant.granted;
    }
  }

  std::vector<PlannedCast> run() {
    for (const FusedNode& node : m_plan.fusedNodes) {
      for (ValueId value : node.inputs) operand(node, value);
    }
    for (ValueId value : m_plan.graph().outputs()) output(value);
    return std::move(m_casts);
  }

 private:
  const FusedNode* producerOf(ValueId value) const {
    const NodeId producer = m_plan.graph().value(value).producer;
    return producer.valid() ? m_plan.fusedNodeOf(producer) : nullptr;
  }

  SegmentKind kindOf(const FusedNode& node) const { return m_plan.segments[node.segment.index].kind; }

  bool pinned(const FusedNode& node) const {
    return std::any_of(node.nodes.begin(), node.nodes.end(), [&](NodeId id) { return m_pinned[id.index] != 0; });
  }

  std::string reasonFor(const FusedNode& consumer, const FusedNode* producer, DataType from, DataType to) const {
    if (isTruncation(from, to)) return "truncation";
    if (pinned(consumer) || (producer != nullptr && pinned(*producer))) return "pin";
    if (producer == nullptr) return "model_input";
    if (kindOf(consumer) != kindOf(*producer)) return "segment_boundary";
    return "precision";
  }

  PlannedCast makeCast(ValueId value, DataType from, DataType to, const FusedNode* producer, std::string reason) const {
    PlannedCast cast{.value = value, .from = from, .to = to, .reason = std::move(reason)};
    if (producer != nullptr) cast.producer = producer->id;
    const auto read = bytesOfValue(m_plan.graph(), value, from);
    const auto written = bytesOfValue(m_plan.graph(), value, to);
    if (read && written) cast.bytes = *read + *written;
    return cast;
  }

  void operand(const FusedNode& node, ValueId value) {
    const DataType from = m_plan.storedType(value);
    const DataType to = operandType(m_plan, node, value);
    if (from == to) return;
    const auto [entry, isNew] = m_castOf.try_emplace({value, to}, m_casts.size());
    if (isNew) {
      const FusedNode* producer = producerOf(value);
      m_casts.push_back(makeCast(value, from, to, producer, reasonFor(node, producer, from, to)));
    }
    m_casts[entry->second].consumers.push_back(node.id);
  }

  void output(ValueId value) {
    const DataType from = m_plan.storedType(value);
    const DataType to = m_plan.graph().value(value).type.dtype;
    const bool known = std::any_of(m_casts.begin(), m_casts.end(), [&](const PlannedCast& cast) {
      return cast.value == value && cast.consumers.empty();
    });
    if (from != to && !known) m_casts.push_back(makeCast(value, from, to, producerOf(value), "model_output"));
  }

  const Plan& m_plan;
  std::vector<char> m_pinned;  ///< by NodeId: a pin was granted
  std::map<std::pair<ValueId, DataType>, std::size_t> m_castOf;
  std::vector<PlannedCast> m_casts;
};

}  // namespace

namespace {

/// Whether a node of the fused node reads `value` only to learn how to convert.
bool keepsItsType(const Graph& graph, const FusedNode& fused, ValueId value) {
  return std::any_of(fused.nodes.begin(), fused.nodes.end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (node.inputs[i] == value && saysHowToConvert(node, i)) return true;
    return false;
  });
}

}  // namespace

DataType operandType(const Plan& plan, const FusedNode& node, ValueId value) {
  const DataType own = plan.graph().value(value).type.dtype;
  if (plan.inFallback(node)) return own;
  const DataType type = truncatedType(plan.target, plan.truncationMode(), own);
  if (keepsItsType(plan.graph(), node, value)) return type;
  return exchangeable(type) && isFloat(node.compute) ? node.compute : type;
}

std::vector<PlannedCast> planCasts(const Plan& plan) {
  return CastPlanner(plan).run();
}

}  // namespace fusescope
