#include <algorithm>

#include "passes/contradictions.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

constexpr std::size_t kLargeWeight = 1 << 20;  // bytes

/// Returns whether a large weight that other nodes read unchanged is transposed for one product. If it were folded, it
/// would be in memory twice; the product's kernel reads it transposed instead.
bool isTiedWeight(const Graph& graph, const Node& node) {
  if (!node.is("Transpose") || !graph.isConstant(node.input(0))) return false;
  const Value& weight = graph.value(node.input(0));
  const bool large = weight.constant->byteSize() >= kLargeWeight && weight.constant->dims().size() == 2;
  const auto& readers = graph.value(node.outputs[0]).consumers;
  return large && weight.consumers.size() > 1 && readers.size() == 1 && graph.node(readers[0]).is("MatMul") &&
         graph.node(readers[0]).input(1) == node.outputs[0];
}

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
  /// Returns whether every output is known and none is an output of the graph, which stays computed under its name.
  static bool isKnown(const Graph& graph, const TypeFlow& flow, const Node& node) {
    if (isTiedWeight(graph, node)) return false;
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
