#include <algorithm>

#include "passes/contradictions.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

class FoldConstants : public Pass {
 public:
  std::string_view name() const override { return "fold_constants"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    const TypeFlow flow =
        TRY(flowTypes(graph, inputTypes(graph, context.inputSpecs),
                      {.declared = DeclaredTypes::Complete, .compute = ComputeValues::All}, context.stop));
    bool changed = settleContradictions(context, flow);
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!isKnown(graph, flow, node)) continue;
      const bool fromExtents = node.is("Shape") || node.is("Size");
      context.ledger.retire(node, fromExtents ? "normalise.extents_known" : "normalise.folded", name());
      for (const ValueId output : node.outputs)
        if (output.valid()) context.editor.makeConstant(output, *flow.known[output.index]);
      context.editor.removeNode(id);
      changed = true;
    }
    return changed;
  }

 private:
  /// Every output is known, and none is an output of the graph: those stay computed, under their name.
  static bool isKnown(const Graph& graph, const TypeFlow& flow, const Node& node) {
    const bool any = std::ranges::any_of(node.outputs, [](ValueId output) { return output.valid(); });
    return any && std::ranges::all_of(node.outputs, [&](ValueId output) {
             return !output.valid() || (flow.known[output.index] != nullptr && !graph.isOutput(output));
           });
  }
};

}  // namespace

std::unique_ptr<Pass> foldConstants() {
  return std::make_unique<FoldConstants>();
}

}  // namespace fusescope
