#include "passes/prepare_passes.h"

namespace fusescope {
namespace {

bool isInferenceDropout(const Graph& graph, const Node& node) {
  if (!node.is("Dropout")) return false;
  const ValueId mask = node.outputs.size() > 1 ? node.outputs[1] : ValueId();
  if (mask.valid() && (!graph.value(mask).consumers.empty() || graph.isOutput(mask))) return false;
  const ValueId training = node.input(2);
  if (!training.valid()) return true;
  const Tensor* value = graph.constantData(training);
  return value != nullptr && value->count() == 1 && value->asInt64(0) == 0;
}

class RemoveIdentities : public Pass {
 public:
  std::string_view name() const override { return "remove_identities"; }

  Result<bool> run(PassContext& context) const override {
    Replacements replacements;
    for (const NodeId id : context.graph.order()) {
      const Node& node = context.graph.node(id);
      const bool dropout = isInferenceDropout(context.graph, node);
      if ((!dropout && !node.is("Identity")) || !node.input(0).valid() || node.outputs.empty() ||
          !node.outputs[0].valid())
        continue;
      if (!bypass(context, node, replacements)) continue;
      context.ledger.retire(node, dropout ? "normalise.dropout_removed" : "normalise.identity_removed", name());
    }
    applyReplacements(context.editor, replacements);
    return !replacements.empty();
  }
};

}  // namespace

std::unique_ptr<Pass> removeIdentities() {
  return std::make_unique<RemoveIdentities>();
}

}  // namespace fusescope
