#include "analysis/users.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

bool isPointwiseGroup(const RegionBuilder& state, NodeId node) {
  return state.fusible(node) && isElementwise(state.graph().node(node)) && state.kindOf(node) == kinds::kPointwise;
}

/// Merges `consumer` into the kernel of `producer`, which reads or computes elements of the same extents.
void joinPair(RegionBuilder& state, NodeId producer, NodeId consumer, ValueId value) {
  const Graph& graph = state.graph();
  const ValueId result = graph.node(consumer).outputs.front();
  if (!extentsKnown(graph, value) || !extentsKnown(graph, result)) {
    return state.refuse("fuse.shape_unknown", "pointwise", producer, consumer, {{"value", graph.value(value).name}});
  }
  if (!sameExtents(graph, value, result)) return state.refuse("fuse.shape_differs", "pointwise", producer, consumer);
  state.tryMerge({.nodes = {producer, consumer},
                  .root = state.rootOf(producer),
                  .kind = kinds::kPointwise,
                  .rules = {"pointwise"},
                  .deliversInner = true});
}

//
//   f(x, y) ─ g(·, z) ─ …   of equal extents; values that other kernels need are outputs besides the last value
void fusePointwise(RegionBuilder& state) {
  const Graph& graph = state.graph();
  for (const NodeId id : state.scope()) {
    if (!isPointwiseGroup(state, id)) continue;
    for (ValueId value : valuesRead(graph.node(id))) {
      const NodeId producer = graph.value(value).producer;
      if (!producer.valid() || !state.fusible(producer) || !isPointwiseGroup(state, producer) ||
          state.together(producer, id))
        continue;
      joinPair(state, producer, id, value);
    }
  }
}

}  // namespace

extern const FusionRule kPointwiseRule{
    .name = "pointwise", .picture = "f(g(x), y) of equal extents", .apply = fusePointwise};

}  // namespace fusescope
