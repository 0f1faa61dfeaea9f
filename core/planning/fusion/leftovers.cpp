#include <algorithm>
#include <array>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns whether kernels of this kind include elementwise nodes after them.
bool takesPointwise(std::string_view kind) {
  constexpr std::array kKinds = {kinds::kConv, kinds::kMatMul, kinds::kGemm, kinds::kBatchNorm, kinds::kPointwise};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

/// Returns the operator from which the first factor of an activation is recognised.
std::string_view activationOf(const Node& node) {
  if (node.is("Erf")) return "gelu";
  return node.is("Sigmoid") ? "silu" : std::string_view();
}

/// Records what prevented an elementwise node that runs alone from being part of the kernel that makes its operand.
void explainProducer(RegionBuilder& state, const Node& node) {
  const Graph& graph = state.graph();
  for (const ValueId operand : node.inputs) {
    const NodeId producer = operand.valid() ? graph.value(operand).producer : NodeId();
    if (!producer.valid() || !state.fusible(producer) || takesPointwise(state.kindOf(producer))) continue;
    return state.refuse("fuse.producer_not_fusible", "pointwise", producer, node.id,
                        {{"op", graph.node(producer).op}, {"consumer_kind", "pointwise"}});
  }
}

void explainActivation(RegionBuilder& state, const Node& node, std::string_view kind) {
  const Graph& graph = state.graph();
  const Node* reader = onlyConsumer(graph, node.outputs.front());
  std::string what = "not exactly one node reads " + graph.value(node.outputs.front()).name;
  if (reader != nullptr && !isElementwise(*reader)) {
    what = reader->name + " (" + reader->op + "), which reads it, is not elementwise";
  } else if (reader != nullptr && !sameExtents(graph, node.outputs.front(), reader->outputs.front())) {
    what = reader->name + " has other extents";
  } else if (reader != nullptr) {
    what = reader->name + " stays in another kernel";
  }
  state.refuse("fuse.pattern_incomplete", kind, node.id, node.id, {{"kind", std::string(kind)}, {"what", what}});
}

}  // namespace

void explainLeftovers(RegionBuilder& state) {
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    if (!isElementwise(node) || !state.alone(id)) continue;
    explainProducer(state, node);
    if (const std::string_view kind = activationOf(node); !kind.empty()) explainActivation(state, node, kind);
  }
}

}  // namespace fusescope
