#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

bool isAloneAndElementwise(const RegionBuilder& state, NodeId node) {
  return state.fusible(node) && state.alone(node) && isElementwise(state.graph().node(node));
}

//   x ─┬─ f
//      └─ g       both read x once; each result is one of the kernel's
void fuseSiblings(RegionBuilder& state) {
  const Graph& graph = state.graph();
  for (const NodeId id : state.scope()) {
    if (!isAloneAndElementwise(state, id) || graph.node(id).inputs.size() != 1) continue;
    for (const NodeId other : graph.value(graph.node(id).input(0)).consumers) {
      if (other == id || !isAloneAndElementwise(state, other) || graph.node(other).inputs.size() != 1) continue;
      Bindings parts;
      for (const NodeId part : {id, other}) parts.push_back({roles::kPart, graph.node(part).outputs[0], part});
      state.tryMerge({.nodes = {id, other},
                      .root = id,
                      .kind = kinds::kSiblings,
                      .rules = {"siblings"},
                      .deliversInner = true,
                      .bindings = std::move(parts)});
    }
  }
}

}  // namespace

extern const FusionRule kSiblingsRule{.name = "siblings", .picture = "f(x), g(x)", .apply = fuseSiblings};

}  // namespace fusescope
