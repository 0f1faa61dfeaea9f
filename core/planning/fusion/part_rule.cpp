#include <algorithm>

#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

NodeId onlyReader(const RegionBuilder& state, const Node& node) {
  const Graph& graph = state.graph();
  NodeId reader;
  for (const ValueId value : node.outputs) {
    if (!value.valid()) continue;
    if (graph.isOutput(value)) return {};
    for (const NodeId user : graph.value(value).consumers) {
      if (!state.fusible(user) || (reader.valid() && !state.together(user, reader))) return {};
      reader = user;
    }
  }
  return reader;
}

bool isKnownPart(const Graph& graph, const Node& node) {
  if (node.is("Gather")) return isScalarConstant(graph, node.input(1));
  if (!node.is("Slice") && !node.is("Split") && !node.is("Expand")) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId value) { return !value.valid() || graph.isConstant(value); });
}

namespace {

//
//   x ─ Split ─┬─ f ─┐
//              └──── Mul       the kernel reads the parts directly from x
//   x ─ Expand ─ f             the kernel reads repeated elements several times
void fuseParts(RegionBuilder& state) {
  for (const NodeId id : state.scope()) {
    const Node& node = state.graph().node(id);
    if (!isKnownPart(state.graph(), node) || !state.alone(id)) continue;
    const NodeId reader = onlyReader(state, node);
    if (!reader.valid() || state.kindOf(reader) != kinds::kPointwise) continue;
    if (isFloatCast(state.graph(), state.graph().node(reader)) && state.alone(reader)) continue;
    state.tryMerge({.nodes = {id, reader},
                    .root = state.rootOf(reader),
                    .kind = kinds::kPointwise,
                    .rules = {"part"},
                    .deliversInner = true});
  }
}

}  // namespace

extern const FusionRule kPartRule{
    .name = "part", .picture = "f(split(x)), f(slice(x)), f(expand(x))", .apply = fuseParts};

}  // namespace fusescope
