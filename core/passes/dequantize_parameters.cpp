#include <algorithm>

#include "ops/run_node.h"
#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

/// Returns whether the reader is a normalisation for which there is no kernel on codes, so that its parameters must be
/// numbers. LayerNormalization and RMSNormalization are none, because their kernels include a DequantizeLinear.
bool wantsNumbers(const Node& reader, ValueId parameter) {
  const bool normalizes =
      reader.is("BatchNormalization") || reader.is("InstanceNormalization") || reader.is("GroupNormalization");
  return normalizes && reader.input(0) != parameter;
}

bool isParameter(const Graph& graph, const Node& node) {
  if (!node.is("DequantizeLinear") || node.outputs.size() != 1 || graph.isOutput(node.outputs[0])) return false;
  const auto isKnown = [&](ValueId input) { return !input.valid() || graph.constantData(input) != nullptr; };
  const std::vector<NodeId>& readers = graph.value(node.outputs[0]).consumers;
  const auto wants = [&](NodeId reader) { return wantsNumbers(graph.node(reader), node.outputs[0]); };
  return std::ranges::all_of(node.inputs, isKnown) && !readers.empty() && std::ranges::all_of(readers, wants);
}

class DequantizeParameters : public Pass {
 public:
  std::string_view name() const override { return "dequantize_parameters"; }

  Result<bool> run(PassContext& context) const override {
    const Graph& graph = context.graph;
    bool changed = false;
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!isParameter(graph, node)) continue;
      std::vector<const Tensor*> codes;
      for (const ValueId input : node.inputs) codes.push_back(input.valid() ? graph.constantData(input) : nullptr);
      std::vector<Tensor> numbers = TRY(runNode(node, codes, context.stop));
      context.ledger.retire(node, "normalise.folded", name());
      context.editor.makeConstant(node.outputs[0], std::move(numbers.front()));
      context.editor.removeNode(id);
      changed = true;
    }
    return changed;
  }
};

}  // namespace

std::unique_ptr<Pass> dequantizeParameters() {
  return std::make_unique<DequantizeParameters>();
}

}  // namespace fusescope
