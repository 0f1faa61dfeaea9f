#include "ui/canvas/level_parts.h"

#include "ui/document/qt_text.h"

namespace fusescope {

LevelParts::LevelParts(const Cover& of, const BodyPath& path, const CanvasFonts& fonts,
                       std::shared_ptr<const ModuleTree> tree)
    : cover(of),
      modules(std::move(tree)),
      items(of, path, fonts),
      fusedOfNode(of.graph().nodeIdLimit(), -1),
      placeOfNode(of.graph().nodeIdLimit(), 0),
      blocks(of, modules, !path.isNetwork()),
      blockItems(blocks.all().size()) {
  std::uint32_t place = 0;
  for (const NodeId id : graph().order()) placeOfNode[id.index] = place++;
  handles.reserve(of.fusedNodes.size());
  for (std::size_t f = 0; f < of.fusedNodes.size(); ++f) {
    handles.push_back(items.handleOf(of.fusedNodes[f]));
    for (const NodeId node : of.fusedNodes[f].nodes)  // a cover may contain a node twice
      if (graph().has(node) && fusedOfNode[node.index] < 0) fusedOfNode[node.index] = int(f);
  }
  if (blocks.all().empty()) return;
  blockOfNode.resize(of.graph().nodeIdLimit(), -1);
  for (std::size_t b = 0; b < blocks.all().size(); ++b) {  // a block comes after the block around it
    blockHandles.push_back(qs(path.exactly(blocks.handleOf(of, blocks.all()[b]))));
    for (const NodeId node : blocks.all()[b].nodes) blockOfNode[node.index] = int(b);
  }
  auto all = std::make_shared<CanvasKernels>();
  all->handles = handles;
  for (const FusedNode& fused : of.fusedNodes) all->untimed.push_back(timeWithoutRun(of, fused));
  kernels = std::move(all);
  asked.resize(of.graph().nodeIdLimit(), DataType::Undefined);
  for (const PrecisionGrant& grant : of.precisionMap) asked[grant.node.index] = grant.asked;
}

void LevelParts::drawnIn(std::size_t fused, std::vector<NodeId>& nodes) const {
  nodes.clear();
  for (const NodeId node : cover.fusedNodes[fused].nodes)
    if (graph().has(node) && fusedOfNode[node.index] == int(fused)) nodes.push_back(node);
}

bool LevelParts::canOpen(std::size_t fused) const {
  std::vector<NodeId> nodes;
  drawnIn(fused, nodes);
  return nodes.size() > 1 || containsBodies(cover, cover.fusedNodes[fused]);
}

}  // namespace fusescope
