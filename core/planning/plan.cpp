#include "planning/plan.h"

#include <algorithm>

#include "calibration/ranges.h"
#include "planning/structure.h"

namespace fusescope {

bool PlanOptions::operator==(const PlanOptions& other) const {
  const bool sameRanges = ranges == other.ranges || (ranges != nullptr && other.ranges != nullptr &&
                                                     ranges->contentHash() == other.ranges->contentHash());
  return target == other.target && precisions == other.precisions && directives == other.directives &&
         workspaceBytes == other.workspaceBytes && sameRanges && weightOnly == other.weightOnly;
}

std::vector<DataType> floatPrecisions(const PlanOptions& options) {
  std::vector<DataType> floats;
  for (const DataType type : options.precisions)
    if (isFloat(type)) floats.push_back(type);
  return floats;
}

const FusedNode* Plan::fusedNodeOf(NodeId node) const {
  if (node.index < fusedOfNode.size()) {
    const FusedNodeId id = fusedOfNode[node.index];
    return id.valid() ? &fusedNodes[id.index] : nullptr;
  }
  for (const FusedNode& fused : fusedNodes) {
    if (std::find(fused.nodes.begin(), fused.nodes.end(), node) != fused.nodes.end()) return &fused;
  }
  return nullptr;
}

bool Plan::inFallback(const FusedNode& fused) const {
  return fused.segment.valid() && segments[fused.segment.index].kind == SegmentKind::Fallback;
}

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

const FusedNode* Plan::findFusedNode(std::string_view wanted) const {
  const auto found =
      std::find_if(fusedNodes.begin(), fusedNodes.end(), [&](const FusedNode& fused) { return fused.name == wanted; });
  return found == fusedNodes.end() ? nullptr : &*found;
}

const Plan* Plan::bodyPlan(NodeId holder, std::string_view attribute) const {
  const auto found = std::ranges::find_if(
      bodies, [&](const PlannedBody& body) { return body.holder == holder && body.attribute == attribute; });
  return found == bodies.end() ? nullptr : found->plan.get();
}

DataType Plan::storedType(ValueId value) const {
  if (value.index < storedTypes.size()) return storedTypes[value.index];
  for (const FusedNode& fused : fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      if (output.value == value) return output.type;
    }
    for (const InnerEdge& edge : fused.innerEdges) {
      if (edge.value == value) return edge.type;
    }
  }
  for (const TruncatedValue& constant : truncation.constants) {
    if (constant.value == value) return constant.to;
  }
  return graph().value(value).type.dtype;
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
  for (const WishAnswer& answer : plan.answers)
    if (answer.outcome == WishOutcome::Refused) refusals.push_back(&plan.decisions[answer.decision]);
  return refusals;
}

}  // namespace fusescope
