#include "tuning/pinnable_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "planning/quantized_model.h"

namespace fusescope {
namespace {

/// Returns the nodes whose type an `obey` pin of the user determines, so that pins of a search have no effect there.
std::set<NodeId> settledNodes(const Plan& lowered) {
  std::set<NodeId> nodes;
  for (const PrecisionGrant& grant : lowered.precisionMap) {
    const Directive* pin = findDirective(lowered, grant.by);
    if (pin != nullptr && pin->kind == DirectiveKind::Pin && pin->strictness == Strictness::Obey)
      nodes.insert(grant.node);
  }
  return nodes;
}

/// Adds the nodes of `lowered`, and of its bodies, that differ. `path` has the bodies around them.
Status addNodes(const Plan& lowered, const Plan& exact, const BodyPath& path, FusedNodeId fusedOfHolder,
                std::vector<PinnableNode>& nodes) {
  const std::vector<char> coded = TRY(codedNodes(*unquantized(lowered.model), lowered.options));
  const std::set<NodeId> settled = settledNodes(lowered);
  const Graph& graph = lowered.graph();
  for (const NodeId id : graph.order()) {
    const FusedNode* fused = lowered.fusedNodeOf(id);
    if (fused == nullptr) continue;
    const FusedNodeId place = path.isNetwork() ? fused->id : fusedOfHolder;
    // The exact graph does not contain nodes that quantise or dequantise.
    if (!exact.graph().has(id)) continue;
    const DataType narrow = lowered.calculates[id.index], wide = exact.calculates[id.index];
    const bool isNarrower = isFloat(narrow) && isFloat(wide) && bitWidth(narrow) < bitWidth(wide);
    if ((isNarrower || (coded[id.index] && isFloat(wide))) && !settled.contains(id))
      nodes.push_back({path.of(graph.node(id).name), place, wide});
    for (const CoverBody& body : lowered.bodies) {
      const Plan* other = body.holder == id ? exact.bodyPlan(id, body.attribute) : nullptr;
      if (other == nullptr) continue;
      TRY(addNodes(plannedBody(body), *other, path.into(graph.node(id), body.attribute), place, nodes));
    }
  }
  return Done{};
}

}  // namespace

Result<Pinnable> pinnableNodes(const Plan& lowered, const Plan& exact) {
  Pinnable pinnable;
  TRY(addNodes(lowered, exact, {}, {}, pinnable.nodes));
  std::map<FusedNodeId, std::uint32_t> groupOf;
  std::map<FusedNodeId, PinSet> byFused;
  for (std::uint32_t i = 0; i < pinnable.nodes.size(); ++i) byFused[pinnable.nodes[i].fused].insert(i);
  for (auto& [fused, nodes] : byFused) {
    groupOf.emplace(fused, static_cast<std::uint32_t>(pinnable.groups.size()));
    pinnable.groups.push_back(std::move(nodes));
  }
  std::vector<std::set<std::uint32_t>> neighbours(pinnable.groups.size());
  std::map<ValueId, FusedNodeId> makers;
  for (const FusedNode& fused : lowered.fusedNodes)
    for (const FusedOutput& output : fused.outputs) makers.emplace(output.value, fused.id);
  for (const FusedNode& fused : lowered.fusedNodes) {
    const auto reader = groupOf.find(fused.id);
    if (reader == groupOf.end()) continue;
    for (const ValueId input : fused.inputs) {
      const auto maker = makers.find(input);
      const auto made = maker == makers.end() ? groupOf.end() : groupOf.find(maker->second);
      if (made == groupOf.end()) continue;
      neighbours[reader->second].insert(made->second);
      neighbours[made->second].insert(reader->second);
    }
  }
  for (const auto& of : neighbours) pinnable.neighbours.emplace_back(of.begin(), of.end());
  return pinnable;
}

}  // namespace fusescope
