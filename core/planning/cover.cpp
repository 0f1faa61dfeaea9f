#include "planning/cover.h"

#include <algorithm>

#include "calibration/ranges.h"
#include "ir/graph.h"

namespace fusescope {

bool PlanOptions::operator==(const PlanOptions& other) const {
  const bool sameRanges = ranges == other.ranges || (ranges != nullptr && other.ranges != nullptr &&
                                                     ranges->contentHash() == other.ranges->contentHash());
  const bool sameSupport =
      support == other.support || (support != nullptr && other.support != nullptr && *support == *other.support);
  return target == other.target && precisions == other.precisions && directives == other.directives &&
         workspaceBytes == other.workspaceBytes && sameRanges && weightOnly == other.weightOnly &&
         compiler == other.compiler && compilerOptions == other.compilerOptions && sameSupport;
}

std::vector<DataType> floatPrecisions(const PlanOptions& options) {
  std::vector<DataType> floats;
  for (const DataType type : options.precisions)
    if (isFloat(type)) floats.push_back(type);
  return floats;
}

const FusedNode* Cover::fusedNodeOf(NodeId node) const {
  if (node.index < fusedOfNode.size()) {
    const FusedNodeId id = fusedOfNode[node.index];
    return id.valid() ? &fusedNodes[id.index] : nullptr;
  }
  for (const FusedNode& fused : fusedNodes) {
    if (std::find(fused.nodes.begin(), fused.nodes.end(), node) != fused.nodes.end()) return &fused;
  }
  return nullptr;
}

bool Cover::inFallback(const FusedNode& fused) const {
  return fused.segment.valid() && segments[fused.segment.index].kind == SegmentKind::Fallback;
}

const FusedNode* Cover::findFusedNode(std::string_view wanted) const {
  const auto found =
      std::find_if(fusedNodes.begin(), fusedNodes.end(), [&](const FusedNode& fused) { return fused.name == wanted; });
  return found == fusedNodes.end() ? nullptr : &*found;
}

DataType Cover::storedType(ValueId value) const {
  if (value.index < storedTypes.size()) return storedTypes[value.index];
  for (const FusedNode& fused : fusedNodes) {
    for (const FusedOutput& output : fused.outputs) {
      if (output.value == value) return output.type;
    }
    for (const InnerEdge& edge : fused.innerEdges) {
      if (edge.value == value) return edge.type;
    }
  }
  return graph().value(value).type.dtype;
}

std::string_view name(CoverSource source) {
  return source == CoverSource::Planned ? "planned" : "read_back";
}

}  // namespace fusescope
