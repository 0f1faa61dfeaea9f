#include <algorithm>
#include <map>
#include <set>

#include "analysis/cost.h"
#include "planning/plan.h"
#include "planning/steps.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

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
      for (std::size_t i = 0; i < node.inputs.size(); ++i) operand(node, node.inputs[i], node.reads[i]);
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

  bool pinned(NodeId node) const { return node.valid() && m_pinned[node.index] != 0; }

  std::string reasonFor(ValueId value, const FusedNode& consumer, DataType from, DataType to) const {
    const Value& about = m_plan.graph().value(value);
    const bool readPinned = std::ranges::any_of(
        about.consumers, [&](NodeId user) { return pinned(user) && m_plan.fusedNodeOf(user)->id == consumer.id; });
    if (isTruncation(from, to)) return "truncation";
    if (readPinned || pinned(about.producer)) return "pin";
    if (!about.producer.valid()) return "model_input";
    if (kindOf(consumer) != kindOf(*producerOf(value))) return "segment_boundary";
    return "precision";
  }

  PlannedCast makeCast(ValueId value, DataType from, DataType to, const FusedNode* producer, std::string reason) const {
    PlannedCast cast{.value = value, .from = from, .to = to, .reason = std::move(reason)};
    if (producer != nullptr) cast.producer = producer->id;
    const auto bytesAt = [&](const ChosenExtents& extents) { return bytesOfConversion(extents, value, from, to); };
    cast.bytes = bytesAt(*m_plan.structure->usual);
    if (m_plan.structure->least != nullptr)
      cast.range = CostRange{.least = {.flops = {}, .bytes = bytesAt(*m_plan.structure->least), .ms = {}},
                             .most = {.flops = {}, .bytes = bytesAt(*m_plan.structure->most), .ms = {}}};
    return cast;
  }

  void operand(const FusedNode& node, ValueId value, DataType to) {
    const DataType from = m_plan.storedType(value);
    if (from == to) return;
    const auto [entry, isNew] = m_castOf.try_emplace({value, to}, m_casts.size());
    if (isNew) {
      m_casts.push_back(makeCast(value, from, to, producerOf(value), reasonFor(value, node, from, to)));
    }
    m_casts[entry->second].consumers.push_back(node.id);
  }

  void output(ValueId value) {
    const DataType from = m_plan.storedType(value);
    const DataType to = m_plan.graph().value(value).type.dtype;
    if (from != to && m_converted.insert(value).second)
      m_casts.push_back(makeCast(value, from, to, producerOf(value), "model_output"));
  }

  const Plan& m_plan;
  std::vector<char> m_pinned;  ///< by NodeId: a pin was granted
  std::map<std::pair<ValueId, DataType>, std::size_t> m_castOf;
  std::set<ValueId> m_converted;  ///< outputs of the network
  std::vector<PlannedCast> m_casts;
};

}  // namespace

std::vector<PlannedCast> planCasts(const Plan& plan) {
  return CastPlanner(plan).run();
}

}  // namespace fusescope
