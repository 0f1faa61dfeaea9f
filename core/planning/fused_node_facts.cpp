#include "planning/fused_node_facts.h"

#include <algorithm>

namespace fusescope {

std::string handleOf(const std::string& identity) {
  return "fused:" + identity;
}

std::string handleOf(const FusedNode& fused) {
  return handleOf(fused.identity.hex());
}

std::vector<DataType> calculatedTypes(const Cover& cover, const FusedNode& fused) {
  std::vector<DataType> types;
  if (fused.compute != DataType::Undefined) types.push_back(fused.compute);
  if (cover.inFallback(fused) || cover.source == CoverSource::ReadBack) return types;
  for (const NodeId node : fused.nodes) {
    const DataType type = node.index < cover.calculates.size() ? cover.calculates[node.index] : DataType::Undefined;
    if (type != DataType::Undefined && std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return types;
}

bool isPrediction(const Cover& cover, const FusedNode& fused) {
  const bool ofAnother = cover.target.predictedFusions || cover.options.compiler != kOwnCompiler;
  return cover.source == CoverSource::Planned && ofAnother && !cover.inFallback(fused);
}

const InnerEdge* keptInWiderType(const FusedNode& fused, ValueId value) {
  const auto edge = std::ranges::find(fused.innerEdges, value, &InnerEdge::value);
  if (edge == fused.innerEdges.end() || edge->real || !isFloat(edge->type)) return nullptr;
  return bitWidth(edge->type) > bitWidth(fused.compute) ? &*edge : nullptr;
}

}  // namespace fusescope
