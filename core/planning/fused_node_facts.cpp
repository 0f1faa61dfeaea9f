#include "planning/fused_node_facts.h"

#include <algorithm>

namespace fusescope {

std::string handleOf(const std::string& identity) {
  return "fused:" + identity;
}

std::string handleOf(const FusedNode& fused) {
  return handleOf(fused.identity.hex());
}

std::vector<DataType> calculatedTypes(const Plan& plan, const FusedNode& fused) {
  std::vector<DataType> types;
  if (fused.compute != DataType::Undefined) types.push_back(fused.compute);
  if (plan.inFallback(fused)) return types;
  for (const NodeId node : fused.nodes) {
    const DataType type = node.index < plan.calculates.size() ? plan.calculates[node.index] : DataType::Undefined;
    if (type != DataType::Undefined && std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return types;
}

std::string ruleOf(const Plan& plan, const FusedNode& fused) {
  if (fused.nodes.size() < 2) return {};
  const Subject first = Subject::node(plan.graph().node(fused.nodes.front()).name);
  for (const Decision& decision : plan.decisions) {
    if (decision.code != "fuse.merged" && decision.code != "fuse.predicted") continue;
    if (std::ranges::find(decision.subjects, first) == decision.subjects.end()) continue;
    return decision.arguments.value("rule", std::string());
  }
  return {};
}

bool isPrediction(const Plan& plan, const FusedNode& fused) {
  return plan.target.predictedFusions && !plan.inFallback(fused);
}

const InnerEdge* heldWider(const FusedNode& fused, ValueId value) {
  const auto edge = std::ranges::find(fused.innerEdges, value, &InnerEdge::value);
  if (edge == fused.innerEdges.end() || edge->real || !isFloat(edge->type)) return nullptr;
  return bitWidth(edge->type) > bitWidth(fused.compute) ? &*edge : nullptr;
}

}  // namespace fusescope
