#include "planning/plan.h"

#include <algorithm>

#include "planning/body_cover.h"
#include "planning/structure.h"

namespace fusescope {

bool Plan::readsMemory(NodeId node) const {
  const Node& reader = graph().node(node);
  for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
    const ValueId value = reader.inputs[i];
    if (!value.valid() || !isExchangeable(graph().value(value).type.dtype) || !isDataOperand(reader, i)) continue;
    const NodeId producer = graph().value(value).producer;
    if (!producer.valid() || fusedNodeOf(producer) != fusedNodeOf(node)) return true;
    if (structure != nullptr && structure->facts[producer.index].moves && readsMemory(producer)) return true;
  }
  return false;
}

const Plan* Plan::bodyPlan(NodeId holder, std::string_view attribute) const {
  return static_cast<const Plan*>(bodyCover(*this, holder, attribute));
}

const Plan* asPlan(const Cover& cover) {
  return cover.source == CoverSource::Planned ? static_cast<const Plan*>(&cover) : nullptr;
}

const Plan& plannedBody(const CoverBody& body) {
  return static_cast<const Plan&>(*body.cover);
}

void Plan::index() {
  fusedOfNode.assign(graph().nodeIdLimit(), FusedNodeId());
  std::vector<DataType> types(graph().valueIdLimit(), DataType::Undefined);
  for (ValueId value : graph().allValues()) types[value.index] = graph().value(value).type.dtype;
  for (const TruncatedValue& constant : truncation.constants) types[constant.value.index] = constant.to;
  for (const FusedNode& fused : fusedNodes) {
    for (NodeId node : fused.nodes) fusedOfNode[node.index] = fused.id;
    for (const InnerEdge& edge : fused.innerEdges) types[edge.value.index] = edge.type;
    for (const FusedOutput& output : fused.outputs) types[output.value.index] = output.type;
  }
  storedTypes = std::move(types);
}

const Directive* findDirective(const Plan& plan, const Cause& cause) {
  if (!cause.isDirective()) return nullptr;
  const auto found = std::ranges::find(plan.options.directives, cause.id, &Directive::id);
  return found == plan.options.directives.end() ? nullptr : &*found;
}

std::vector<const Decision*> obeyRefusals(const Plan& plan) {
  std::vector<const Decision*> refusals;
  for (const DirectiveAnswer& answer : plan.answers)
    if (answer.outcome == DirectiveOutcome::Refused) refusals.push_back(&plan.decisions[answer.decision]);
  return refusals;
}

}  // namespace fusescope
